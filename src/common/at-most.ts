/** Much to do, and never more than so much at once. */

/**
 * Runs `work` for each item, at most `limit` at a time, and reads no further ahead than that. After a failure nothing more is begun; the first one
 * is thrown when what was under way has ended.
 */
export async function forEachAtMost<T>(
  items: AsyncIterable<T> | Iterable<T>,
  limit: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  let index = 0;
  for await (const item of items) {
    const task: Promise<void> = work(item, index)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => running.delete(task));
    running.add(task);
    index += 1;
    if (running.size >= limit) await Promise.race(running);
    if (failures.length > 0) break;
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}

/** As {@link forEachAtMost}; what `work` gives, in the order of the items. */
export async function mapAtMost<T, Result>(
  items: AsyncIterable<T> | Iterable<T>,
  limit: number,
  work: (item: T, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  await forEachAtMost(items, limit, async (item, i) => void (results[i] = await work(item, i)));
  return results;
}
