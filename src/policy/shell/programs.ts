/**
 * Programs that may run outside of the sandbox without asking, each with the options that were found harmless: none of them
 * writes a file, runs a program, reads a list of files from a file, follows links out of the workspace, or shows the environment.
 * An option that is not listed, also one that a later version adds, asks. Long options must be written in full.
 */

export interface Program {
  /** Single letters that stand alone or together: `-la`. */
  flags?: string;
  /** Single letters that take a value: `-n 5`, `-n5`. */
  values?: string;
  /** Long options without a value, or with one after `=` where `longValues` has them. With `words`, `-name` counts as long. */
  long?: readonly string[];
  longValues?: readonly string[];
  /** Options have one dash and more letters (`find -name`). */
  words?: boolean;
  /** `-5` is a number of lines. */
  number?: boolean;
  /** What words that are no options are. `pattern` : the first is text, others files. `text`: no file. */
  operands: 'none' | 'text' | 'files' | 'pattern';
  /** Options after which no word is a pattern: `grep -e x file`. */
  patternOptions?: readonly string[];
  /** Most words that are no options. */
  most?: number;
  /** What each word (with `pattern`: the first) must look like. */
  only?: RegExp;
  /** What must be among the options. */
  requires?: string;
  /** Any option may stand here, as it is text too (`echo`). */
  anyOptions?: boolean;
}

const words = (text: string): string[] => text.split(' ');

const none = (flags: string, long = ''): Program => ({ flags, long: long === '' ? [] : words(long), operands: 'none' });
const files = (flags: string, values = '', long = '', longValues = ''): Program => ({
  flags,
  values,
  long: long === '' ? [] : words(long),
  longValues: longValues === '' ? [] : words(longValues),
  operands: 'files',
});

const GREP: Program = {
  flags: 'EFGivwxclLnHhosqbZarI',
  values: 'mABCe',
  long: words(
    '--ignore-case --invert-match --word-regexp --line-regexp --count --files-with-matches --files-without-match --line-number --with-filename --no-filename --only-matching --quiet --silent --recursive --extended-regexp --fixed-strings --basic-regexp --text --null --no-messages',
  ),
  longValues: words(
    '--max-count --after-context --before-context --context --regexp --include --exclude --exclude-dir --color --colour',
  ),
  operands: 'pattern',
  patternOptions: ['-e', '--regexp'],
};

const CHECKSUM = files('bt', '', '--binary --text --tag --zero');

export const PROGRAMS: Readonly<Record<string, Program>> = {
  // Say something
  echo: { operands: 'text', anyOptions: true },
  // The shell's own sets a variable by `%n`: with `printf %n PATH` later programs come from a folder named `0`.
  printf: { operands: 'text', only: /^(?!.*%[^A-Za-z%]*[hlqjzLt]*n)/s },
  true: none(''),
  false: none(''),
  seq: { flags: 'w', values: 's', operands: 'text', only: /^[0-9.]{1,9}$/, most: 3 },
  sleep: { operands: 'text', only: /^[0-9.]{1,6}[smh]?$/, most: 1 },

  // About the machine
  pwd: none('LP'),
  whoami: none(''),
  id: none('ugGn'),
  groups: none(''),
  uname: none('asnrvmpio', '--all'),
  arch: none(''),
  nproc: none('', '--all'),
  uptime: none('ps', '--pretty --since'),
  hostname: none('s'),
  // A word without `+` would set the clock.
  date: {
    flags: 'uR',
    values: 'd',
    long: words('--utc --universal'),
    longValues: words('--date --iso-8601 --rfc-3339'),
    operands: 'text',
    only: /^\+/,
    most: 1,
  },
  which: { flags: 'a', operands: 'text', only: /^[A-Za-z0-9._+-]+$/ },

  // Names
  basename: { flags: 'az', values: 's', operands: 'text' },
  dirname: { flags: 'z', operands: 'text' },
  ls: files(
    '1aAbBcCdfFghiklmnNopqQrRsStuUvxXZ',
    '',
    '--all --almost-all --directory --human-readable --inode --recursive --reverse --size --group-directories-first --full-time',
    '--color --sort --time --format --time-style',
  ),
  tree: files('adfishpugDFrtCnU', 'LIP', '--dirsfirst --noreport'),
  stat: files('ft', 'c', '--terse --file-system', '--format'),
  file: files('bi', '', '--brief --mime --mime-type --mime-encoding'),
  du: files('hsacbkmx0', 'd', '--human-readable --summarize --all --total --bytes', '--max-depth'),
  df: files('hkTiP', '', '--human-readable --inodes --print-type'),
  find: {
    words: true,
    long: words('-print -print0 -not -o -a -or -and -empty -xdev -mount -depth -daystart'),
    longValues: words(
      '-name -iname -path -ipath -type -maxdepth -mindepth -size -mtime -mmin -atime -ctime -perm -user -group',
    ),
    operands: 'files',
  },

  // Content
  cat: files('AbeEnstTuv', '', '--number --number-nonblank --squeeze-blank --show-all --show-ends --show-tabs'),
  head: { ...files('qvz', 'nc', '--quiet --verbose', '--lines --bytes'), number: true },
  tail: { ...files('qvz', 'nc', '--quiet --verbose', '--lines --bytes'), number: true },
  tac: files(''),
  nl: files('p', 'bdfhilnsvw'),
  rev: files(''),
  fold: files('bs', 'w', '--spaces --bytes', '--width'),
  expand: files('i', 't', '--initial', '--tabs'),
  unexpand: files('a', 't', '--all', '--tabs'),
  wc: files('cmlLw', '', '--bytes --chars --lines --words --max-line-length'),
  sort: files(
    'bdfghiMnRrVcCmsuz',
    'kt',
    '--unique --reverse --numeric-sort --human-numeric-sort --version-sort --ignore-case --stable --check',
    '--key --field-separator',
  ),
  // A second file would be written.
  uniq: {
    ...files('cdDiuz', 'fsw', '--count --repeated --unique --ignore-case', '--skip-fields --skip-chars'),
    most: 1,
  },
  cut: files(
    'nsz',
    'bcdf',
    '--complement --only-delimited',
    '--bytes --characters --delimiter --fields --output-delimiter',
  ),
  paste: files('sz', 'd', '--serial', '--delimiters'),
  join: { ...files('i', 'aetv12jo', '--ignore-case', ''), most: 2 },
  comm: files('123', '', '--check-order --nocheck-order --total', '--output-delimiter'),
  tr: {
    flags: 'cCdst',
    long: words('--complement --delete --squeeze-repeats --truncate-set1'),
    operands: 'text',
    most: 2,
  },
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  // No diff: it follows links inside of folders that it compares.
  cmp: files('bls', 'n', '--print-bytes --verbose --silent --quiet', '--bytes'),
  md5sum: CHECKSUM,
  sha1sum: CHECKSUM,
  sha256sum: CHECKSUM,
  sha512sum: CHECKSUM,
  b2sum: CHECKSUM,
  cksum: files(''),
  // Only `sed -n 1,20p`: scripts can write files (w) and run programs (e).
  sed: { flags: 'n', operands: 'pattern', only: /^[0-9]{1,9}(,([0-9]{1,9}|\$))?p$/, requires: 'n' },
};

/**
 * Programs that change files and run nothing but what their words say, each with the options of which that is known. They are not
 * harmless: they ask like others. But an approval of their words says all that will run.
 */
export const WRITERS: Readonly<Record<string, Program>> = {
  touch: files('achm', 'drt', '--no-create --no-dereference', '--date --reference --time'),
  mkdir: files('pv', 'm', '--parents --verbose', '--mode'),
  rmdir: files('pv', '', '--parents --verbose --ignore-fail-on-non-empty'),
  cp: files(
    'abdfHilLnPpRrsTuvx',
    'St',
    '--archive --attributes-only --dereference --force --interactive --link --no-clobber --no-dereference --no-target-directory --one-file-system --parents --recursive --remove-destination --strip-trailing-slashes --symbolic-link --verbose',
    '--suffix --target-directory',
  ),
  mv: files(
    'bfinTuv',
    'St',
    '--force --interactive --no-clobber --no-target-directory --strip-trailing-slashes --verbose',
    '--suffix --target-directory',
  ),
  ln: files(
    'bfiLnPrsTv',
    'St',
    '--force --interactive --logical --no-dereference --no-target-directory --physical --relative --symbolic --verbose',
    '--suffix --target-directory',
  ),
  rm: files('dfIiRrv', '', '--dir --force --one-file-system --recursive --verbose'),
  unlink: files(''),
  chmod: files('cfRv', '', '--changes --quiet --recursive --silent --verbose', '--reference'),
  chown: files(
    'cfHhLPRv',
    '',
    '--changes --dereference --no-dereference --quiet --recursive --silent --verbose',
    '--reference',
  ),
  chgrp: files(
    'cfHhLPRv',
    '',
    '--changes --dereference --no-dereference --quiet --recursive --silent --verbose',
    '--reference',
  ),
  truncate: files('co', 'rs', '--io-blocks --no-create', '--reference --size'),
  tee: files('ai', '', '--append --ignore-interrupts'),
};

/** Words of the shell itself that run no program and change nothing of what stands after them, whatever most of their options. Not `jobs`: with `-x` it runs what follows. */
export const SHELL_WORDS: ReadonlySet<string> = new Set(
  words('echo printf test [ true false : pwd exit return shift wait umask type kill dirs ulimit times'),
);

/** Run text as programs: what they do can't be told from their words, and an approval of one must not become a rule. */
export const INTERPRETERS: ReadonlySet<string> = new Set(
  words(
    'sh bash rbash dash ash zsh ksh mksh csh tcsh fish python python2 python3 pypy pypy3 node nodejs deno bun ts-node tsx perl ruby php lua luajit awk gawk mawk nawk sed ed ex vi vim nvim emacs tclsh expect wish osascript pwsh powershell rscript julia ghci groovy jshell java scala erl elixir iex guile sbcl clisp racket gdb lldb sqlite3 psql mysql jq yq bc dc make gmake ninja cmake just rake gradle mvn ant npm npx pnpm pnpx yarn corepack pip pip3 pipx uv uvx poetry cargo rustc go gcc cc clang g++ docker podman kubectl helm terraform ansible ansible-playbook m4 git',
  ),
);

/** Run another program with other rights, elsewhere or later. */
export const WRAPPERS: ReadonlySet<string> = new Set(
  words(
    'sudo doas su pkexec runuser env nice ionice timeout time nohup setsid stdbuf command builtin exec eval source . xargs parallel watch chroot unshare nsenter strace ltrace flock taskset chrt setarch busybox toybox ssh script systemd-run firejail bwrap fakeroot xvfb-run dbus-run-session at batch crontab trap coproc find fd entr prlimit setpriv choom tmux screen numactl cgexec runcon sg capsh unbuffer rlwrap faketime eatmydata proot valgrind perf dtach jobs ssh-agent linux32 linux64 i386 x86_64 systemd-inhibit start-stop-daemon logsave gosu su-exec tini dumb-init chronic aa-exec sshpass',
  ),
);
