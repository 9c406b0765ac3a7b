/** Which configuration a command judges by that judges in its own process: which file, and whose it is. */
import { type LoadedConfig, findConfig } from '../config/index.ts';
import { configuredConnection } from './connect.ts';
import { configDir, stateDir } from './paths.ts';
import { discoverService } from './service-file.ts';

export interface ConfigHere extends LoadedConfig {
  /** Whose it is, for people: `/etc/strict.jsonc`, `/home/ann/countersign.config.jsonc (the running service’s)`. */
  said: string;
}

/**
 * The file that is given; else the working folder's own, then that of the service that runs on this machine and that commands would
 * reach, then the user's, then the defaults. A running service without a file goes by the defaults, and so does who asks in its place.
 * @throws CountersignError `invalid_config`
 */
export async function configHere(given?: string, env: NodeJS.ProcessEnv = process.env): Promise<ConfigHere> {
  const own = await findConfig(given, [process.cwd()]);
  if (given !== undefined) return { ...own, said: own.path ?? given };
  const service = configuredConnection(env) === undefined ? discoverService(stateDir(env)) : undefined;
  if (own.path !== undefined) {
    const other =
      service && service.config !== own.path ? `; the running service goes by ${service.config ?? 'the defaults'}` : '';
    return { ...own, said: `${own.path} (this folder’s${other})` };
  }
  if (service) {
    const its = await findConfig(service.config, []);
    return {
      ...its,
      said: its.path === undefined ? 'the defaults, as the running service' : `${its.path} (the running service’s)`,
    };
  }
  const users = await findConfig(undefined, [configDir(env)]);
  return {
    ...users,
    said: users.path === undefined ? 'the defaults: no configuration is here' : `${users.path} (the user’s)`,
  };
}
