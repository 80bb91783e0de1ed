import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { koffi } from '#shared/native/koffi.ts';

/** Interval at which a thread checks whether it was idle. */
const LOOK_MS = 2_500;
/**
 * Time for which a thread is idle before its garbage is worth a collection: longer than the pauses between a user's statements. A collection
 * removes the last objects of a shape, and with the shape V8 throws away the code that it had compiled for such objects. `SELECT 1` of 16
 * clients had three fifths of its rate for some seconds after a collection, and the first statement took twice as long.
 */
const IDLE_MS = 60_000;
/** A thread was idle when it used less than this fraction of the interval. */
const IDLE_USE_MAX = 0.05;
/** Minimum heap growth that is worth a collection. */
const GROWN_BYTES_MIN = 4 * 2 ** 20;

type Collect = (options: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void;

/**
 * Returns the garbage of this thread's heap to the system once the thread has been idle for `idleMs`. V8 collects only on allocation and keeps
 * the pages that it has emptied, so an idle thread that was busy before would hold much memory. A collection takes some tens of
 * milliseconds, while nobody waits.
 * @param afterwards returns memory that has become free outside of the heap
 */
export function returnMemoryWhenIdle({
  afterwards = trimAllocator,
  idleMs = IDLE_MS,
}: {
  readonly afterwards?: () => void;
  readonly idleMs?: number;
} = {}): Disposable {
  let use = performance.eventLoopUtilization();
  let idleSinceMs: number | undefined;
  // The first collection is always due, because the start of a program leaves much garbage.
  let keptBytes = 0;
  let wasCollected = false;
  let collect: Collect | undefined;
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const isIdle = performance.eventLoopUtilization(now, use).utilization < IDLE_USE_MAX;
    use = now;
    const nowMs = performance.now();
    idleSinceMs = isIdle ? (idleSinceMs ?? nowMs - LOOK_MS) : undefined;
    const isLong = idleSinceMs !== undefined && nowMs - idleSinceMs >= idleMs;
    const isDue = isLong && heldBytes() - keptBytes > GROWN_BYTES_MIN;
    // Again: V8 frees the buffers that a collection has found in the background, after the collection has returned.
    if (wasCollected && isIdle) afterwards();
    wasCollected = isDue;
    if (!isDue) return;
    collect ??= collector();
    collect({ type: 'major', flavor: 'last-resort' });
    afterwards();
    keptBytes = heldBytes();
    // The collection itself is no use of the thread: on a slow machine it would look busy, and not trim again.
    use = performance.eventLoopUtilization();
  }, LOOK_MS).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Makes the C library return its empty pages to the system. Linux only. */
export function trimAllocator(): void {
  if (process.platform !== 'linux') return;
  (koffi.load(null).func('int malloc_trim(size_t pad)') as (pad: number) => number)(0);
}

function heldBytes(): number {
  const { total_heap_size: heap, external_memory: external } = getHeapStatistics();
  return heap + external;
}

/** Returns V8's `gc` of this isolate, without exposing it to contexts that are made later. */
function collector(): Collect {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return collect;
}
