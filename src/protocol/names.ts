/** Names on the wire: workflow types, messages, search attributes, the task queue. Changing one breaks running calls. */

export const TASK_QUEUE = 'countersign';

export const WORKFLOW = { call: 'toolCall', session: 'session' } as const;

export const SEARCH_ATTRIBUTE = {
  session: 'CountersignSession',
  agent: 'CountersignAgent',
  tool: 'CountersignTool',
  state: 'CountersignState',
} as const;

/** Values of {@link SEARCH_ATTRIBUTE.state}; absent on a call that ran without waiting. Outcomes other than `completed` are values too. */
export const CALL_STATE = { waiting: 'waiting' } as const;
