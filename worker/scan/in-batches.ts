/** Files that are opened or looked at together. */
const AT_ONCE = 16;

/** Maps a list in its order, a few of its members together. @throws the reason of `signal` between two batches */
export async function inBatches<T, R>(
  signal: AbortSignal,
  list: readonly T[],
  map: (one: T) => Promise<R>,
): Promise<readonly R[]> {
  const mapped: R[] = [];
  for (let start = 0; start < list.length; start += AT_ONCE) {
    signal.throwIfAborted();
    mapped.push(...(await Promise.all(list.slice(start, start + AT_ONCE).map(map))));
  }
  return mapped;
}
