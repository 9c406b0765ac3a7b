/** The whole configuration, with every default filled in. */
import type { LadderStep } from '../protocol/approval.ts';
import { LIMITS } from '../protocol/limits.ts';
import { DEFAULT_SHELL, type ShellSettings } from '../policy/settings.ts';
import { durationMs } from './duration.ts';
import type { ConfigFile } from './schema.ts';

type Given<Key extends keyof ConfigFile> = NonNullable<ConfigFile[Key]>;
export type AgentConfig = Given<'agents'>[string];
export type ChannelConfig = Given<'channels'>[string];
export type ApproverConfig = NonNullable<Given<'approvals'>['approvers']>[number];
export type Limits = { [Key in keyof Required<Given<'limits'>>]: number };

/** A validated configuration. Absent parts of the file have their defaults here; `agents` has `default`, `channels` has `inbox`. */
export interface Config extends Omit<
  ConfigFile,
  'workspaces' | 'agents' | 'channels' | 'owners' | 'shell' | 'approvals' | 'limits'
> {
  workspaces: string[];
  agents: Record<string, AgentConfig>;
  channels: Record<string, ChannelConfig>;
  owners: string[];
  shell: ShellSettings & { env: string[]; sandbox: { readOnly: string[] } };
  approvals: {
    timeoutMs: number;
    signatures: 'optional' | 'required';
    approvers: ApproverConfig[];
    required: number;
    requiredFor: Record<string, number>;
    onTimeout: 'deny' | 'wait';
    /** In order of time. */
    ladder: LadderStep[];
  };
  limits: Limits;
}

export const DEFAULT_LIMITS: Limits = {
  parameters: 20,
  schemaDepth: 5,
  arrayItems: 1_000,
  stringBytes: 100 * 1024,
  fileBytes: 100 * 1024 * 1024,
  argumentDepth: LIMITS.argumentDepth,
  running: 10,
  queued: 100,
  pendingRequests: LIMITS.pendingRequests,
  sessionDepth: LIMITS.sessionDepth,
  sessionChildren: LIMITS.sessionChildren,
  correctionMs: LIMITS.correctionMs,
};

export function withDefaults(file: ConfigFile): Config {
  const { timeout, timeoutMs, signatures, approvers, required, requiredFor, onTimeout, ladder } = file.approvals ?? {};
  return {
    ...file,
    workspaces: file.workspaces ?? [],
    agents: { default: {}, ...file.agents },
    channels: { inbox: {}, ...file.channels },
    owners: file.owners ?? [],
    shell: {
      ...DEFAULT_SHELL,
      ...file.shell,
      env: file.shell?.env ?? [],
      sandbox: { readOnly: file.shell?.sandbox?.readOnly ?? [] },
    },
    approvals: {
      timeoutMs: timeoutMs ?? (timeout === undefined ? LIMITS.approvalMs : durationMs(timeout)),
      signatures: signatures ?? 'optional',
      approvers: approvers ?? [],
      required: required ?? 1,
      requiredFor: requiredFor ?? {},
      onTimeout: onTimeout ?? 'deny',
      ladder: (ladder ?? []).map(stepOf).toSorted((a, b) => a.afterMs - b.afterMs),
    },
    limits: { ...DEFAULT_LIMITS, ...file.limits },
  };
}

/** How many calls of an agent run and wait in one worker: its own limits, else those of all. */
export function callLimits({ agents, limits }: Config, agent: string): Pick<Limits, 'running' | 'queued'> {
  const own = Object.hasOwn(agents, agent) ? agents[agent]?.limits : undefined;
  return { running: own?.running ?? limits.running, queued: own?.queued ?? limits.queued };
}

const stepOf = (step: NonNullable<Given<'approvals'>['ladder']>[number]): LadderStep =>
  'remind' in step
    ? { afterMs: durationMs(step.after), kind: 'remind' }
    : { afterMs: durationMs(step.after), kind: 'reassign', role: step.reassign };
