/** The configuration: one file, validated as a whole, reloaded without a restart. */
export { configSchema, type ConfigFile } from './schema.ts';
export {
  DEFAULT_LIMITS,
  callLimits,
  type AgentConfig,
  type ApproverConfig,
  type ChannelConfig,
  type Config,
  type Limits,
} from './defaults.ts';
export { checkDeclared } from './declared.ts';
export { durationMs } from './duration.ts';
export { CONFIG_FILE } from '../protocol/names.ts';
export { findConfig, loadConfig, parseCases, parseConfig, type LoadedConfig } from './load.ts';
export type { EmailConfig, NotifierConfig, Secret } from './notifiers.ts';
export { watchConfig, watchForFile } from './watch.ts';
export type { KnownTool } from './names.ts';
