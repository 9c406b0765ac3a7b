/** What simple commands do, for people: a table of programs, and of what their options change about it. */
import type { Deed } from '../protocol/preview.ts';
import { DEFAULT_SHELL } from '../policy/settings.ts';
import { classify } from '../policy/shell/classify.ts';
import { dangerOf } from '../policy/shell/danger.ts';
import { INTERPRETERS, WRAPPERS } from '../policy/shell/programs.ts';

const KNOWN: ReadonlyMap<string, Deed> = new Map(
  (
    [
      ['folder', 'cd pushd popd'],
      [
        'looks',
        'ls cat head tail less more grep egrep fgrep rg find fd tree stat file du df wc sort uniq diff cmp which type ps top env printenv history jq yq cut tr awk date pwd id whoami uname echo printf test [ true false',
      ],
      ['makes', 'mkdir touch mktemp tar zip gzip bzip2 xz zstd unzip gunzip 7z split dd mkfifo ln'],
      ['copies', 'cp install'],
      ['moves', 'mv rename'],
      ['edits', 'tee truncate patch ed ex vi vim nano sponge prettier'],
      ['deletes', 'rm unlink rmdir shred'],
      ['rights', 'chmod chown chgrp setfacl chattr'],
      ['network', 'curl wget nc ncat netcat telnet ping dig nslookup host ftp fetch http gh glab aria2c openssl'],
      ['sends', 'scp rsync sftp mail sendmail mutt aws gcloud az gsutil s3cmd rclone twine'],
      ['installs', 'apt apt-get dnf yum apk pacman brew pip pip3 pipx gem cpan snap flatpak corepack'],
      [
        'builds',
        'make gmake ninja cmake cargo go mvn gradle ant rake just tsc vitest jest pytest tox gcc cc clang g++ rustc',
      ],
      ['later', 'nohup at batch crontab setsid systemd-run screen tmux disown'],
      ['stops', 'kill killall pkill xkill'],
      [
        'machine',
        'systemctl service mount umount sysctl modprobe iptables ip6tables nft ufw useradd userdel usermod passwd shutdown reboot halt poweroff mkfs fdisk launchctl',
      ],
      ['containers', 'docker podman kubectl helm terraform nerdctl ansible ansible-playbook vagrant'],
      ['other_rights', 'sudo doas su pkexec runuser'],
      ['variables', 'export unset set declare local readonly alias'],
    ] as const
  ).flatMap(([deed, programs]) => programs.split(' ').map((program): [string, Deed] => [program, deed])),
);

/** Of git, what reads the repository, with these options and any paths and revisions. */
const GIT_READS = new Set(
  'status log diff show blame ls-files ls-tree rev-parse rev-list cat-file describe shortlog'.split(' '),
);
/** Known to change nothing and to run nothing with any of them; git has others that write a file (`--output`) or run a program (`--ext-diff`). */
const GIT_OPTIONS = new Set(
  (
    '-a -b -n -p -r -s -t -u -v -w -z --abbrev-commit --abbrev-ref --all --always --branch --branches --cached --color --count ' +
    '--decorate --first-parent --follow --graph --ignored --long --merges --name-only --name-status --no-color --no-merges ' +
    '--no-patch --numstat --oneline --patch --porcelain --remotes --reverse --short --shortstat --show-toplevel --staged --stat ' +
    '--summary --tags --verify --word-diff'
  ).split(' '),
);
const GIT_VALUES =
  /^(?:-\d+|-n\d+|-U\d+|--(?:abbrev|after|author|before|color|date|decorate|diff-filter|format|grep|ignored|max-count|porcelain|pretty|short|since|skip|stat|unified|until|untracked-files|word-diff)=.*)$/;
/** What lists as it stands here, and changes something with more. */
const GIT_LISTS = new Set([
  'branch',
  'branch -a',
  'branch -r',
  'branch -v',
  'branch -vv',
  'branch --list',
  'branch --show-current',
  'remote',
  'remote -v',
  'stash list',
  'tag',
  'tag --list',
  'worktree list',
]);
const PACKAGE_RUNS = new Set('test t run start build exec x dlx'.split(' '));

/**
 * What the words of one simple command do; at least one.
 * @param plain false where a shell makes other words of them, or sets variables for it: what depends on each word is then not known
 */
export function deedsOf(words: readonly string[], { plain }: { plain: boolean }): Deed[] {
  const [path = '', ...rest] = words;
  const program = path.slice(path.lastIndexOf('/') + 1);
  if (classify(words, { bins: {}, limits: DEFAULT_SHELL }).safe) return ['harmless'];
  const deeds = new Set<Deed>(special(program, rest, plain));
  const known = KNOWN.get(program);
  if (known !== undefined && deeds.size === 0) deeds.add(known);
  if (WRAPPERS.has(program)) deeds.add('runs_other');
  if (deeds.size === 0) deeds.add(INTERPRETERS.has(program) ? 'runs_text' : 'unknown');
  if (dangerOf(program, rest) !== undefined) deeds.add('dangerous');
  return [...deeds];
}

/** Where the words after the program's name decide. */
function special(program: string, rest: readonly string[], plain: boolean): Deed[] {
  const letters = rest.filter((word) => /^-[A-Za-z]+$/.test(word)).join('');
  const has = (...options: string[]): boolean => rest.some((word) => options.includes(word.split('=')[0] ?? ''));
  const first = rest.find((word) => !word.startsWith('-')) ?? '';
  switch (program) {
    case 'rm':
      return /[rR]/.test(letters) || has('--recursive') ? ['deletes_trees'] : ['deletes'];
    case 'find':
      if (has('-delete')) return ['deletes_trees'];
      return has('-exec', '-execdir', '-ok', '-okdir') ? ['looks', 'runs_other'] : ['looks'];
    case 'sed':
    case 'perl':
      return /i/.test(letters) || has('--in-place') ? ['edits'] : program === 'sed' ? ['looks'] : ['runs_text'];
    case 'curl':
    case 'wget': {
      const sends = has(
        '-d',
        '--data',
        '--data-binary',
        '--data-raw',
        '-F',
        '--form',
        '-T',
        '--upload-file',
        '--post-data',
        '--post-file',
      );
      return sends || rest.some((word) => /^(POST|PUT|PATCH|DELETE)$/.test(word)) ? ['network', 'sends'] : ['network'];
    }
    case 'git':
      if (first === 'push') return ['remote', 'sends'];
      if (first === 'fetch' || first === 'clone' || first === 'pull') return ['network', 'repository'];
      return plain && gitReads(rest) ? ['looks'] : ['repository'];
    case 'npm':
    case 'pnpm':
    case 'yarn':
    case 'bun':
      if (first === 'publish') return ['sends'];
      return PACKAGE_RUNS.has(first) ? ['builds'] : ['installs'];
    case 'npx':
    case 'pnpx':
    case 'bunx':
    case 'uvx':
      return ['installs', 'runs_text'];
    case 'ssh':
      return ['network', 'runs_other'];
    default:
      return [];
  }
}

function gitReads(words: readonly string[]): boolean {
  const [subcommand = '', ...rest] = words[0] === '--no-pager' ? words.slice(1) : words;
  if (GIT_LISTS.has([subcommand, ...rest].join(' '))) return true;
  const end = rest.indexOf('--');
  const options = (end === -1 ? rest : rest.slice(0, end)).filter((word) => word.startsWith('-'));
  return GIT_READS.has(subcommand) && options.every((word) => GIT_OPTIONS.has(word) || GIT_VALUES.test(word));
}
