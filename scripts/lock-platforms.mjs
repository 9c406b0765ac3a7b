/**
 * Names in package-lock.json the optional packages for other platforms that npm left out, because the registry it asked
 * does not carry them; without them `npm ci` refuses the lock file. Run it after `npm install PACKAGE`, where
 * test/scripts/repository.test.ts asks for it. Such entries have a version and no hash.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const FILE = new URL('../package-lock.json', import.meta.url);
const PLATFORM =
  /(?<os>aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)-(?<cpu>[a-z0-9]+)(-(?<abi>[a-z]+))?$/;

const lock = JSON.parse(readFileSync(FILE, 'utf8'));
const { packages } = lock;
for (const [path, owner] of Object.entries({ ...packages })) {
  for (const [name, version] of Object.entries(owner.optionalDependencies ?? {})) {
    const key = `node_modules/${name}`;
    const platform = PLATFORM.exec(name)?.groups;
    if (packages[key] || packages[`${path}/${key}`] || !platform || !/^\d/.test(version)) continue;
    const libc =
      platform.os === 'linux' && platform.abi ? [platform.abi.startsWith('musl') ? 'musl' : 'glibc'] : undefined;
    packages[key] = {
      version,
      cpu: [platform.cpu],
      ...(owner.dev ? { dev: true } : {}),
      ...(libc ? { libc } : {}),
      optional: true,
      os: [platform.os],
    };
    console.log(`added ${name}`);
  }
}
lock.packages = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`);
