/** What the sandbox is made of besides the workspace: bubblewrap's arguments and the few files that are written for it. */
import { existsSync, lstatSync, readlinkSync } from 'node:fs';

/** Everything is shut before anything is opened. */
export const isolation = (): string[] => [
  '--unshare-user',
  '--unshare-pid',
  '--unshare-ipc',
  '--unshare-uts',
  '--unshare-net',
  '--unshare-cgroup-try',
  // Run by root, bubblewrap would keep root's capabilities inside.
  '--uid',
  '1000',
  '--gid',
  '1000',
  '--cap-drop',
  'ALL',
  // No user namespace within: it would open parts of the kernel that nobody here needs.
  '--disable-userns',
  '--hostname',
  'sandbox',
  '--die-with-parent',
  '--new-session',
  '--clearenv',
];

export const PASSWD =
  'root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n';
export const GROUP = 'root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n';

/** What programs need of /etc; no secrets, no accounts, no addresses of this machine. */
const ETC = [
  'alternatives',
  'ca-certificates',
  'ca-certificates.conf',
  'debian_version',
  'fonts',
  'java-17-openjdk',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'locale.alias',
  'localtime',
  'login.defs',
  'magic',
  'magic.mime',
  'mime.types',
  'nsswitch.conf',
  'os-release',
  'pki/ca-trust',
  'pki/tls/certs',
  'protocols',
  'services',
  'ssl/certs',
  'ssl/openssl.cnf',
  'terminfo',
  'timezone',
  'xml',
];

/** Folders of the system, read-only, and fresh ones. On most systems /bin and its like are links into /usr. */
export function system(readOnly: readonly string[]): string[] {
  const args = ['--ro-bind', '/usr', '/usr', '--perms', '0755', '--dir', '/etc'];
  for (const folder of ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']) {
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    if (stats?.isSymbolicLink()) args.push('--symlink', readlinkSync(folder), folder);
    else if (stats?.isDirectory()) args.push('--ro-bind', folder, folder);
  }
  for (const name of ETC) args.push('--ro-bind-try', `/etc/${name}`, `/etc/${name}`);
  args.push(
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--perms',
    '1777',
    '--tmpfs',
    '/tmp',
    '--dir',
    '/run',
    '--dir',
    '/var',
    '--symlink',
    '../tmp',
    '/var/tmp',
  );
  for (const path of readOnly) args.push('--ro-bind-try', path, path);
  return args;
}

export const searchPath = (readOnly: readonly string[]): string =>
  [
    ...readOnly.map((path) => `${path}/bin`).filter((path) => existsSync(path)),
    '/usr/local/sbin',
    '/usr/local/bin',
    '/usr/sbin',
    '/usr/bin',
    '/sbin',
    '/bin',
  ].join(':');
