/** The part of the configuration that policy reads, as people write it. src/config checks that a file has this form. */

export const PROFILE_NAMES = ['minimal', 'coding', 'messaging', 'full'] as const;
export type ProfileName = (typeof PROFILE_NAMES)[number];

/** What an argument must look like for a rule to speak. */
export type ArgumentPattern = { exact: unknown } | { glob: string } | { host: string } | { under: string };

export interface ArgumentRule {
  /** Shown in traces instead of the rule's place in the file. */
  name?: string | undefined;
  /** A tool, a group, or either with `*`. */
  tool: string;
  /** Argument → pattern; all must match. A rule without patterns speaks of every call of the tool. */
  when?: Record<string, ArgumentPattern> | undefined;
  effect: 'allow' | 'ask' | 'deny';
  /** Shown to the model and to people. */
  reason?: string | undefined;
}

/** What one layer may say. Every part of it narrows, except `alsoAllow`, which adds to the profile of the same section. */
export interface PolicySection {
  profile?: ProfileName | undefined;
  allow?: string[] | undefined;
  alsoAllow?: string[] | undefined;
  ask?: string[] | undefined;
  deny?: string[] | undefined;
  rules?: ArgumentRule[] | undefined;
}

export const SHELL_BACKENDS = ['sandbox', 'host', 'disabled'] as const;
export const SHELL_SECURITIES = ['safe-bin', 'paranoid', 'full'] as const;
export const SHELL_APPROVALS = ['auto', 'smart', 'always'] as const;

export interface SafeBin {
  /** Options that may be given, each in full: `-n`, `--color`. */
  options?: string[] | undefined;
  /** Options that take a value. */
  valueOptions?: string[] | undefined;
  /** First words that may follow: `test` for `npm test`. Without it any words may. */
  subcommands?: string[] | undefined;
  /** `none`: no words but options; `text`: words that name no file; `files` (as when absent): words are files of the workspace. */
  operands?: 'none' | 'text' | 'files' | undefined;
}

export interface ShellSettings {
  backend: (typeof SHELL_BACKENDS)[number];
  security: (typeof SHELL_SECURITIES)[number];
  approval: (typeof SHELL_APPROVALS)[number];
  /** Programs that run outside of the sandbox without being asked about, besides the built-in ones. */
  safeBins: Record<string, SafeBin>;
  /** Characters of one command line that are judged; past it the command asks. */
  maxLength: number;
  /** Simple commands in one line; past it the command asks. */
  maxParts: number;
}

export interface AgentPolicy extends PolicySection {
  providers?: Record<string, PolicySection> | undefined;
  subAgents?: PolicySection | undefined;
}

export interface PolicySettings extends PolicySection {
  providers?: Record<string, PolicySection> | undefined;
  agents?: Record<string, AgentPolicy> | undefined;
  channels?: Record<string, PolicySection> | undefined;
  conversations?: Record<string, PolicySection> | undefined;
  sandbox?: PolicySection | undefined;
  subAgents?: PolicySection | undefined;
  /** Tools that only calls for a declared owner may use. */
  ownerOnly?: string[] | undefined;
  /** Sender ids. */
  owners?: string[] | undefined;
  /** Named sets of tools: `group:mine`. */
  groups?: Record<string, string[]> | undefined;
  /** Hosts (`*.example.com`) that need no question; without it every host is known. */
  knownHosts?: string[] | undefined;
  /** Paths in the workspace that are protected besides the built-in ones. */
  protect?: string[] | undefined;
  shell?: Partial<{ [K in keyof ShellSettings]: ShellSettings[K] | undefined }> | undefined;
}

export const DEFAULT_SHELL: ShellSettings = {
  backend: 'sandbox',
  security: 'safe-bin',
  approval: 'smart',
  safeBins: {},
  maxLength: 8_192,
  maxParts: 50,
};
