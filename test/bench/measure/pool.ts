/** Many at a time, never more than so many. */

/** Runs `count` pieces of work, `width` at once; the results in order. */
export async function pooled<T>(
  count: number,
  width: number,
  work: (i: number) => Promise<T>,
  progress?: (part: number) => void,
): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  let done = 0;
  const runner = async (): Promise<void> => {
    while (next < count) {
      const i = next++;
      results[i] = await work(i);
      done += 1;
      if (done % 10 === 0) progress?.(done / count);
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, runner));
  return results;
}
