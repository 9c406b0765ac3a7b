/** Judges calls in this process, as a worker started here would, without running anything and without a Temporal server. */
import { type Judging, explainOrRefuse } from '../../activities/explain-call.ts';
import { toCallError } from '../../activities/failure.ts';
import type { KnownSession } from '../../activities/session-reader.ts';
import { type LoadedConfig, checkDeclared } from '../../config/index.ts';
import { type Judged, judgeCall } from '../../activities/judge-call.ts';
import {
  type CaseSession,
  type JudgedSession,
  type PolicyChange,
  type RecordedCall,
  type Surroundings,
  type ToolFacts,
  availability,
  describedFor,
  policyDiff,
} from '../../policy/index.ts';
import type { JsonObject } from '../../protocol/json.ts';
import type { CallError, Explanation } from '../../protocol/outcome.ts';
import type { SessionFacts } from '../../protocol/session.ts';
import { configHere } from '../../server/config-here.ts';
import { ownPaths } from '../../server/paths.ts';
import { surroundings as lookAround } from '../../server/surroundings.ts';
import { type Tool, createCatalogue, schemaOf } from '../../tools/index.ts';
import { realFolder } from '../sessions/main-session.ts';
import { caseSession } from './case-session.ts';

export interface ToolListing {
  /** As they are described to a model here. */
  offered: Tool[];
  missing: { name: string; reason: string }[];
}

/** Judges no call of a session that a service would refuse (`undeclared`). */
export interface LocalJudge {
  /** Which configuration it judges by, for people. */
  config: string;
  /**
   * The session that is said, in this folder.
   * @throws CountersignError `undeclared`
   */
  session(folder: SessionFacts, said?: CaseSession): JudgedSession;
  explain(
    facts: JudgedSession,
    call: { tool: string; arguments: JsonObject },
    state?: KnownSession['state'],
  ): Promise<Explanation>;
  /** The whole judgement, or why it came to none. */
  judge(facts: JudgedSession, call: { tool: string; arguments: JsonObject }): Promise<Judged>;
  /** What the rules of now say otherwise than it was said of a call before; the error where it would not even be judged. */
  change(
    recorded: Omit<RecordedCall, 'call'> & { tool: string; arguments: JsonObject },
  ): Promise<PolicyChange | CallError | undefined>;
  /** @throws CountersignError `undeclared` */
  tools(facts: JudgedSession): ToolListing;
}

/** @throws CountersignError `invalid_config` */
export async function localJudge(configFile?: string): Promise<LocalJudge> {
  const loaded = await configHere(configFile);
  const settings = (): LoadedConfig => loaded;
  const protectedPaths = ownPaths(loaded.path);
  const surroundings = await lookAround(settings, protectedPaths);
  const catalogue = createCatalogue();
  const judging: Judging = { catalogue, settings, surroundings };
  const check = (session: JudgedSession): void => {
    for (const facts of [session, ...(session.above ?? [])]) checkDeclared(loaded.config, facts);
  };
  const admitted = (session: JudgedSession, state: KnownSession['state'] = 'open'): KnownSession => {
    check(session);
    const { above = [], ...facts } = session;
    return { facts, state, above: [...above] };
  };
  const judged = async (session: JudgedSession, call: { tool: string; arguments: JsonObject }): Promise<Judged> => {
    try {
      return await judgeCall(judging, admitted(session), call);
    } catch (error) {
      return { ok: false, error: toCallError(error, 'policy_failed') };
    }
  };
  return {
    config: loaded.said,
    session: (folder, said) => {
      const session = caseSession(folder, said);
      check(session);
      return session;
    },
    judge: judged,
    change: async ({ tool, arguments: args, ...recorded }) => {
      const now = await judged(recorded.session, { tool, arguments: args });
      if (!now.ok) return now.error;
      const { name, tier, effect, groups, needs } = now.tool;
      const call = {
        tool: { name, tier, effect, groups, needs },
        arguments: now.arguments,
        subjects: now.subjects,
      };
      return policyDiff([{ ...recorded, call }], loaded.rules, surroundings())[0];
    },
    explain: (session, call, state) => explainOrRefuse(judging, async () => admitted(session, state), call),
    tools: (session) => {
      check(session);
      const tools = catalogue.names().flatMap((name) => catalogue.get(name) ?? []);
      return listTools(session, loaded, surroundings(), tools);
    },
  };
}

function listTools(
  facts: JudgedSession,
  { rules }: LoadedConfig,
  surroundings: Surroundings,
  tools: readonly Tool[],
): ToolListing {
  const judged = tools.map((tool) => ({ tool, ...availability(toolFacts(tool), facts, rules, surroundings) }));
  return {
    offered: judged
      .filter(({ offered }) => offered)
      .map(({ tool }) => ({ ...tool, description: describedFor(rules, tool) })),
    missing: judged
      .filter(({ offered }) => !offered)
      .map(({ tool, reason }) => ({ name: tool.name, reason: reason ?? '' })),
  };
}

const toolFacts = ({ name, tier, effect, groups, needs }: Tool): ToolFacts => ({ name, tier, effect, groups, needs });

/** What a main session of the folder would be. */
export async function folderFacts(folder: string): Promise<SessionFacts> {
  const workspace = await realFolder(folder);
  return { id: 'main', kind: 'main', main: 'main', depth: 0, workspace, agent: 'default', channel: 'inbox' };
}

export { schemaOf };
