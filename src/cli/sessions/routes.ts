/** The way of a request from a session up to its main one. */
import type { SessionFacts } from '../../client/index.ts';

/** By who is whose parent: session ids, from the call's own up to main. */
export function routesBy(
  sessions: readonly { facts: Pick<SessionFacts, 'id' | 'parent'> }[],
): (session: string) => string[] {
  const parents = new Map(sessions.map(({ facts }) => [facts.id, facts.parent]));
  return (session) => {
    const route = [session];
    for (let above = parents.get(session); above !== undefined && !route.includes(above); above = parents.get(above))
      route.push(above);
    return route;
  };
}
