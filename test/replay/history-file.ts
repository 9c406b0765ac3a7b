/** Histories as readable JSON. Temporal's own conversion needs one copy of protobufjs in the tree, which npm does not promise. */
import proto from '@temporalio/proto';

const { History } = proto.temporal.api.history.v1;

export const writeHistory = (history: proto.temporal.api.history.v1.IHistory): string =>
  `${JSON.stringify(History.toObject(History.fromObject(history), { longs: String, enums: String, bytes: String }), undefined, 1)}\n`;

export const readHistory = (text: string): proto.temporal.api.history.v1.History =>
  History.fromObject(JSON.parse(text) as Record<string, unknown>);
