/** Limits that are part of the contract. Sizes in bytes of UTF-8, times in milliseconds. */
export const LIMITS = {
  /** Sets of arguments per call: the first and two amendments. */
  attempts: 3,
  /** How long a call waits for a correction. */
  correctionMs: 10 * 60_000,
  /** How long a call waits for a decision, unless configured otherwise. */
  approvalMs: 60 * 60_000,
  /** The longest that one can wait for it, whatever is configured. */
  approvalMostMs: 30 * 86_400_000,
  /** Canonical JSON of a call's arguments. */
  argumentBytes: 256 * 1024,
  /** Characters of a command line. */
  commandCharacters: 32_000,
  /** Nesting of a call's arguments. */
  argumentDepth: 16,
  /** Requests that one main session holds. */
  pendingRequests: 1_000,
  /** Generations of children below main. */
  sessionDepth: 3,
  /** Children of one session that have not ended. */
  sessionChildren: 100,
  /** Decisions that do not hold, after which a call gives its request up: who can send so many can end it anyway. */
  refusals: 20,
  /** How long a call is held while the service is halted. */
  heldMs: 24 * 60 * 60_000,
  /** Output for the model; past it the output is cut and kept whole as an artifact. */
  modelOutputBytes: 16 * 1024,
  /** Text for people. */
  displayBytes: 8 * 1024,
  /** Image data inlined in an output; larger images are artifacts. */
  inlineImageBytes: 24 * 1024,
  /** Latest notices kept by a session. */
  notices: 100,
  /** Decisions that a session remembers to answer repeats of. */
  decisions: 500,
} as const;
