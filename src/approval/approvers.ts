/** Who may decide: approvers as the configuration lists them, and what each may approve. */
import { type Groups, nameList } from '../policy/names.ts';
import type { ToolFacts } from '../policy/types.ts';
import { SIGHT_MARKS, sightMarks } from './render/look-alikes.ts';
import { TIERS, type Tier } from '../protocol/tool.ts';

export interface Approver {
  name: string;
  /** `ed25519:<base64>`. */
  publicKey?: string;
  roles?: readonly string[];
  /**
   * Tiers (each with those below it), tools and groups, `agent:NAME`; one of each sort that is given must fit. `control:resume`: to end
   * a halt. All where absent.
   */
  may?: readonly string[];
  /** Last day (UTC) or moment: `2027-01-31`, `2027-01-31T12:00Z`. */
  until?: string;
}

/** The role that may stand in for a quorum. */
export const EMERGENCY = 'emergency';

/** What is asked, as far as it matters for who may decide on it. */
export interface Asked {
  tool: ToolFacts;
  tier: Tier;
  agent: string;
  /** The configuration's own groups. */
  groups?: Groups;
}

export function mayDecide({ may }: Approver, { tool, tier, agent, groups }: Asked): boolean {
  if (may === undefined) return true;
  const tiers = may.filter(isTier);
  const agents = may.filter((entry) => entry.startsWith('agent:'));
  const tools = may.filter((entry) => !isTier(entry) && !entry.startsWith('agent:') && !entry.startsWith('control:'));
  if (tiers.length + agents.length + tools.length === 0) return false;
  return (
    (tiers.length === 0 || tiers.some((upTo) => TIERS.indexOf(tier) <= TIERS.indexOf(upTo))) &&
    (agents.length === 0 || agents.includes(`agent:${agent}`)) &&
    (tools.length === 0 || nameList(tools, groups).permits(tool) !== undefined)
  );
}

/** To end a halt lets everything run that was held, so it is no part of what `may` allows without saying so. */
export const mayResume = ({ may }: Approver): boolean => may === undefined || may.includes('control:resume');

const isTier = (text: string): text is Tier => (TIERS as readonly string[]).includes(text);

/** Past the last moment of `until`. What can't be read as a time has passed. */
export function hasEnded({ until }: Approver, now: number): boolean {
  if (until === undefined) return false;
  const end = /T/.test(until) ? Date.parse(until) : Date.parse(`${until}T23:59:59.999Z`);
  return !(now <= end);
}

/**
 * Names that people would take for one another, folded to one: width and style variants, case, invisible characters and spaces, and
 * Greek, Cyrillic and African letters that are drawn like Latin ones (cf. the skeletons of Unicode TS 39).
 */
export const foldedName = (name: string): string =>
  Array.from(name.normalize('NFKC').toLowerCase(), (letter) => LATIN.get(letter) ?? letter)
    .join('')
    .replace(/[\p{Cf}\p{Cc}\p{Mn}\s]+/gu, '');

/** Small letters, each above the Latin one that it is drawn like. */
const DRAWN = 'аαвβсϲԁеєһніιıјϳкκӏмνоοօрρԛѕтτυսԝхχуγɩʋ';
const ALIKE = 'aabbccdeehhiiijjkklmvoooppqsttuuwxxyyiv';
const LATIN: ReadonlyMap<string, string> = new Map(
  Array.from(DRAWN, (letter, at): [string, string] => [letter, ALIKE[at] ?? letter]),
);

/**
 * Letters that no name needs and that are drawn like Latin ones: phonetic (`ɡ`, `ɑ`), small capitals (`ᴀ`), Latin for transcription,
 * and scripts whose letters look like Latin capitals (Lisu, Canadian syllabics, Cherokee, Coptic, Deseret, Osage, Vai and those of inscriptions). Letters of living Latin
 * alphabets (`ə`, `ɛ`, `ŋ`) stay.
 */
const BORROWED =
  /[\u0250-\u0252\u0255\u0258\u025A\u025C-\u0262\u0264-\u0268\u026A-\u0271\u0273\u0274\u0276-\u0287\u028C-\u0291\u0293-\u02AF\u1D00-\u1DBF\u2C60-\u2C7F\uA720-\uA7FF\uAB30-\uAB6F\u{10780}-\u{107BF}\u{1DF00}-\u{1DFFF}]|[\p{Script=Lisu}\p{Script=Canadian_Aboriginal}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Deseret}\p{Script=Osage}\p{Script=Vai}\p{Script=Runic}\p{Script=Ogham}\p{Script=Old_Italic}\p{Script=Lycian}\p{Script=Carian}\p{Script=Lydian}\p{Script=Elbasan}\p{Script=Warang_Citi}\p{Script=Bamum}]/u;

/** Why a name could pass for another to the eye, in words; undefined for a plain one. */
export function nameProblem(name: string): string | undefined {
  if (BORROWED.test(name)) return 'letters of a script or notation that is drawn like plain ones';
  const marks = sightMarks(name).filter((mark) => mark !== 'right_to_left');
  return marks.length === 0 ? undefined : marks.map((mark) => SIGHT_MARKS[mark]).join('; ');
}

/** The approver of exactly this name. */
export const approverNamed = (approvers: readonly Approver[], name: string): Approver | undefined =>
  approvers.find((approver) => approver.name === name);
