/** Commands that can ruin more than the workspace. Outside of the sandbox they are elevated, whatever the shell's settings. */
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

const FAR = /^(\/|~|\.\.(\/|$)|\$|\*$|\.$|\.\/?\*?$)/;

/** Why one of the simple commands of a line is dangerous, or undefined. */
export function dangerIn(commands: readonly (readonly string[])[], text: string): string | undefined {
  for (const [program = '', ...words] of commands) {
    const why = danger(program, words);
    if (why !== undefined) return `${program} ${why}`;
  }
  // Bounded, because these look ahead; a longer line asks anyway.
  const start = text.slice(0, 4_096);
  const fetched = /\b(curl|wget|fetch|nc|base64)\b[^|;&]*\|[^|]*?\b([a-z0-9.]+)\b/.exec(start);
  if (fetched?.[2] !== undefined && INTERPRETERS.has(fetched[2])) return `${fetched[2]} runs what ${fetched[1]} brings`;
  if (/>\s*\/dev\/(sd|nvme|hd|vd|disk|mem)/.test(start)) return 'it writes to a device';
  if (/\(\s*\)\s*\{/.test(start) && start.includes('|') && start.includes('&')) return 'it may multiply without end';
  return undefined;
}

function danger(program: string, words: readonly string[]): string | undefined {
  if (Object.hasOwn(ALWAYS, program)) return ALWAYS[program];
  if (program.startsWith('mkfs.')) return 'changes disks';
  const letters = words.filter((word) => /^-[A-Za-z]+$/.test(word)).join('');
  const far = words.some((word) => FAR.test(word));
  switch (program) {
    case 'rm':
    case 'chmod':
    case 'chown':
    case 'chgrp':
      return far && (/[rR]/.test(letters) || words.includes('--recursive')) ? 'changes whole trees' : undefined;
    case 'dd':
      return words.some((word) => /^of=\/dev\//.test(word)) ? 'writes to a device' : undefined;
    case 'find':
      return words.includes('-delete') && far ? 'deletes whole trees' : undefined;
    case 'kill':
    case 'killall':
    case 'pkill':
      return words.includes('-1') || words.includes('1') ? 'stops everything' : undefined;
    case 'git':
      return words.includes('push') && words.some((word) => /^(-f|--force|--mirror|--delete|\+.+)/.test(word))
        ? 'overwrites a remote'
        : undefined;
    default:
      return undefined;
  }
}
