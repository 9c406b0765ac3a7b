/** Names on the wire: workflow types, messages, search attributes, the task queue. Changing one breaks running calls. */

export const TASK_QUEUE = 'countersign';

/** Name of the configuration file, in the working folder or the user's configuration folder. */
export const CONFIG_FILE = 'countersign.config.jsonc';

export const WORKFLOW = { call: 'toolCall', session: 'session', control: 'control', explain: 'explain' } as const;

export const SEARCH_ATTRIBUTE = {
  session: 'CountersignSession',
  agent: 'CountersignAgent',
  tool: 'CountersignTool',
  state: 'CountersignState',
  /** Of a call that asked for approval: the whole code of its last request, so that no look-up by a code reads all that waits. */
  code: 'CountersignCode',
} as const;

/** Values of {@link SEARCH_ATTRIBUTE.state}; absent on a call that ran without waiting. Outcomes other than `completed` are values too. */
export const CALL_STATE = { waiting: 'waiting', running: 'running' } as const;

/** Messages of a call's workflow. */
export const CALL_MESSAGE = {
  /** Update: answers as soon as the call is done or needs someone. */
  settle: 'settle',
  /** Update: other arguments for a call that waits for a correction. */
  amend: 'amend',
  /** Signal from the session that holds the request. */
  decision: 'decision',
  /** Signal: the call's session closes. */
  sessionClosing: 'sessionClosing',
  /** Query: what waits for approval, with the arguments. */
  approval: 'approval',
} as const;

/** Messages of a session's workflow. */
export const SESSION_MESSAGE = {
  /** Update: answers once the worker admitted the session. */
  opened: 'opened',
  /** Update: starts a child session. */
  openChild: 'openChild',
  /** Update, and signal of the same name: a person's decision. */
  decide: 'decide',
  /** Update, and signal of the same name: end the session, its calls and its children. */
  close: 'close',
  /** Signal from a call or a child session: a request for approval. */
  requestApproval: 'requestApproval',
  /** Signal: a request is void. */
  withdrawApproval: 'withdrawApproval',
  /** Signal: a request that nobody has decided is to be brought up again. */
  escalate: 'escalate',
  /** Update: takes a grant in. */
  addGrant: 'addGrant',
  /** Update: takes a grant back. */
  revokeGrant: 'revokeGrant',
  /** Query: grants of now. */
  grants: 'grants',
  /** Signal: something to tell the session's people. */
  notify: 'notify',
  /** Signal from a child session: it is over. */
  childEnded: 'childEnded',
  /** Query: SessionView. */
  view: 'view',
  /** Query: requests that wait here. */
  pending: 'pending',
  /** Query: how the request of one call stands here. */
  standing: 'standing',
} as const;

/** Type of the failure by which a session refuses an update for a moment: it is to be sent again. */
export const SESSION_MOVES = 'SessionMoves';
