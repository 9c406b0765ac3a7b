/**
 * Where to connect: what the environment or Temporal's own configuration file says, else the embedded service of this
 * machine. Light on purpose: every CLI command passes through here.
 */
import { loadClientConfigProfile, toClientOptions } from '@temporalio/envconfig';
import { CountersignError } from '../protocol/errors.ts';
import { discoverService } from './service-file.ts';
import { stateDir } from './paths.ts';

export { discoverService, type ServiceInfo } from './service-file.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Fits `Connection.connect` and `NativeConnection.connect`. */
export interface ConnectionOptions {
  address: string;
  tls?: boolean | TlsOptions;
  apiKey?: string;
  metadata?: Record<string, string>;
}

/** The parts of TLS that both kinds of connection take. */
export interface TlsOptions {
  serverNameOverride?: string;
  serverRootCACertificate?: Uint8Array;
  clientCertPair?: { crt: Uint8Array; key: Uint8Array };
}

export interface ConnectionSettings {
  options: ConnectionOptions;
  namespace: string;
  /** `configured`: by TEMPORAL_* variables or Temporal's configuration file; `embedded`: a service of this machine. */
  from: 'configured' | 'embedded';
  /** Address of the Temporal UI, where known: https://… without a slash at the end. */
  uiUrl?: string;
}

/**
 * The server that a person configured (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS_*,
 * TEMPORAL_PROFILE, TEMPORAL_CONFIG_FILE or ~/.config/temporalio/temporal.toml), or undefined when no address is given.
 * With COUNTERSIGN_HOME set the configuration file is read only where TEMPORAL_CONFIG_FILE names it: that home is meant
 * to be closed in itself.
 * @throws CountersignError `invalid_config`
 */
export function configuredConnection(env: Env = process.env): ConnectionSettings | undefined {
  const variables = Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  let loaded;
  try {
    const disableFile = Boolean(env['COUNTERSIGN_HOME']) && !env['TEMPORAL_CONFIG_FILE'];
    loaded = toClientOptions(loadClientConfigProfile({ overrideEnvVars: variables, disableFile }));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CountersignError('invalid_config', `Temporal's connection settings cannot be used: ${why}`, {
      cause: error,
    });
  }
  const { address, tls, apiKey, metadata } = loaded.connectionOptions;
  if (!address) return undefined;
  const uiUrl = env['COUNTERSIGN_UI_URL']?.replace(/\/+$/, '');
  return {
    options: {
      address,
      ...(tls ? { tls: tls as boolean | TlsOptions } : {}),
      ...(typeof apiKey === 'string' ? { apiKey } : {}),
      ...(metadata && Object.keys(metadata).length > 0 ? { metadata: metadata as Record<string, string> } : {}),
    },
    namespace: loaded.namespace || 'default',
    from: 'configured',
    ...(uiUrl ? { uiUrl } : {}),
  };
}

/**
 * Where a client connects.
 * @throws CountersignError `no_service` when nothing is configured and no embedded service runs; `invalid_config`
 */
export function connectionSettings(env: Env = process.env): ConnectionSettings {
  const configured = configuredConnection(env);
  if (configured) return configured;
  const service = discoverService(stateDir(env));
  if (!service) {
    throw new CountersignError(
      'no_service',
      'No Countersign service is running here. Start one with `countersign start` (in a clone: `npm start`), ' +
        'or set TEMPORAL_ADDRESS to the Temporal server that yours uses.',
    );
  }
  const { address, namespace, uiUrl } = service;
  return { options: { address }, namespace, from: 'embedded', ...(uiUrl === undefined ? {} : { uiUrl }) };
}
