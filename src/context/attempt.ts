/** What the work gives; undefined where it fails. For looks at what may not be there, or not be ours to see. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
