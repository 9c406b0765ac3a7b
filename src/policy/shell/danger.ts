/**
 * Commands that can ruin more than the workspace: a list of common accidents, no border. Outside of the sandbox they are elevated, unless
 * the shell's security is `full`.
 */
import { baseName, type Readings, type Words } from './forms.ts';
import { INTERPRETERS } from './programs.ts';

/** Program → why, for programs that are dangerous with any words. */
const ALWAYS: Readonly<Record<string, string>> = Object.fromEntries(
  (
    [
      ['sudo doas su pkexec runuser', 'takes other rights'],
      ['mkfs fdisk sfdisk parted wipefs mkswap blkdiscard', 'changes disks'],
      ['shutdown reboot halt poweroff init telinit', 'stops the machine'],
      ['mount umount swapoff losetup', 'changes what is mounted'],
      ['insmod rmmod modprobe sysctl', 'changes the kernel'],
      ['iptables ip6tables nft ufw', 'changes the firewall'],
      ['useradd userdel usermod groupadd passwd chpasswd visudo chsh', 'changes accounts'],
      ['crontab at batch systemctl service launchctl', 'runs something later'],
      ['shred srm', 'destroys files'],
      ['nsenter unshare chroot', 'leaves this environment'],
      ['docker podman kubectl nerdctl', 'runs things with other rights'],
    ] as const
  ).flatMap(([programs, why]) => programs.split(' ').map((program) => [program, why])),
);

/** Bring what somebody else wrote, or what can't be read. */
const FETCHERS: ReadonlySet<string> = new Set(['curl', 'wget', 'fetch', 'nc', 'ncat', 'base64']);

/** Change a whole tree with one word: `rm -r /`. */
const TREES: ReadonlySet<string> = new Set(['rm', 'chmod', 'chown', 'chgrp']);

/** Outside of the workspace, or everything in it. */
const FAR = /^(\/|~|\$|\*$|\.$|\.\/\*?$)|(^|\/)\.\.(\/|$)/;

const DEVICE = String.raw`\/dev\/(?!(?:null|zero|full|tty|stdin|stdout|stderr|u?random)(?![\w.-])|fd\/|shm\/)`;
const NAMES_DEVICE = new RegExp(`^${DEVICE}`);
const WRITES_DEVICE = new RegExp(`>[&|]?\\s*["']?${DEVICE}`);

/** Why a line is dangerous, or undefined. */
export function dangerIn({ commands, flows }: Pick<Readings, 'commands' | 'flows'>, text: string): string | undefined {
  for (const [program = '', ...words] of commands) {
    const why = dangerOf(program, words);
    if (why !== undefined) return `${program} ${why}`;
  }
  for (const stages of flows) {
    const why = runsFetched(stages);
    if (why !== undefined) return why;
  }
  // Bounded, because these look ahead; a longer line asks anyway.
  const start = text.slice(0, 4_096);
  if (WRITES_DEVICE.test(start)) return 'it writes to a device';
  if (/\(\s*\)\s*\{/.test(start) && start.includes('|') && start.includes('&')) return 'it may multiply without end';
  return undefined;
}

function runsFetched(stages: readonly (readonly Words[])[]): string | undefined {
  let fetcher: string | undefined;
  for (const stage of stages) {
    const runner = fetcher === undefined ? undefined : stage.find(runsText);
    if (runner !== undefined) return `${runner[0]} runs what ${fetcher} brings`;
    fetcher ??= stage.find(([program = '']) => FETCHERS.has(program))?.[0];
  }
  return undefined;
}

/** A dot is the shell's `source` only with a file behind it. */
const runsText = ([program = '', ...words]: Words): boolean =>
  INTERPRETERS.has(program) || program === 'eval' || program === 'source' || (program === '.' && words.length > 0);

/** Why one simple command is dangerous; the program by name alone. */
export function dangerOf(program: string, words: Words): string | undefined {
  if (Object.hasOwn(ALWAYS, program)) return ALWAYS[program];
  if (program.startsWith('mkfs.')) return 'changes disks';
  if (TREES.has(program))
    return isFar(words) && hasOption(words, 'rR', '--recursive') ? 'changes whole trees' : undefined;
  switch (program) {
    case 'dd':
      return words.some((word) => word.startsWith('of=') && NAMES_DEVICE.test(word.slice(3)))
        ? 'writes to a device'
        : undefined;
    case 'tee':
    case 'sponge':
    case 'truncate':
      return words.some((word) => NAMES_DEVICE.test(word)) ? 'writes to a device' : undefined;
    case 'cp':
    case 'mv':
    case 'install':
      return NAMES_DEVICE.test(words.at(-1) ?? '') ? 'writes to a device' : undefined;
    case 'find':
      return dangerOfFind(words);
    case 'kill':
    case 'killall':
    case 'pkill':
      return words.includes('-1') || words.includes('1') ? 'stops everything' : undefined;
    case 'git':
      return overwritesRemote(words.slice(words.indexOf('push'))) ? 'overwrites a remote' : undefined;
    default:
      return undefined;
  }
}

const isFar = (words: Words): boolean => words.some((word) => FAR.test(word));

/** Whether one of these options is given: a letter, also among others, or a long one, also abbreviated. */
function hasOption(words: Words, letters: string, ...long: string[]): boolean {
  return words.some((word) => {
    if (/^-[A-Za-z]+$/.test(word)) return [...letters].some((letter) => word.includes(letter));
    const [name = ''] = word.split('=');
    return name.length > 2 && long.some((one) => one.startsWith(name));
  });
}

/** `-delete`, and what `-exec` runs, with a place that is searched for `{}`. */
function dangerOfFind(words: Words): string | undefined {
  const options = words.findIndex((word) => !/^-[HLP]$/.test(word));
  const rest = words.slice(Math.max(options, 0));
  const tests = rest.findIndex((word) => /^[-(!]/.test(word));
  const far = (tests > 0 ? rest.slice(0, tests) : ['.']).find((place) => FAR.test(place));
  if (far !== undefined && words.includes('-delete')) return 'deletes whole trees';
  for (const [path = '', ...given] of executedBy(rest)) {
    const program = baseName(path);
    // A `find` in it is one of the line's commands.
    if (program === 'find') continue;
    if (far !== undefined && TREES.has(program)) return `runs ${program} on whole trees`;
    const why = dangerOf(
      program,
      given.map((word) => (word === '{}' ? (far ?? word) : word)),
    );
    if (why !== undefined) return `runs ${program}, which ${why}`;
  }
  return undefined;
}

/** The words behind each `-exec`, up to what ends it. */
function executedBy(words: Words): Words[] {
  const commands: string[][] = [];
  let open: string[] | undefined;
  for (const word of words) {
    if (/^-(exec|ok)(dir)?$/.test(word)) commands.push((open = []));
    else if (word === ';' || word === '+') open = undefined;
    else open?.push(word);
  }
  return commands;
}

/** By force, or by what stands before a branch: `+main` overwrites it, `:main` deletes it. */
const overwritesRemote = ([push, ...words]: Words): boolean =>
  push === 'push' &&
  (hasOption(words, 'fd', '--force', '--force-with-lease', '--delete', '--mirror', '--prune') ||
    words.some((word) => /^[+:]./.test(word)));
