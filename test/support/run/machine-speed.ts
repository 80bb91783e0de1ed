import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';

/** The work of `workMs` on the machine whose two cores run `npm test` in `REFERENCE_MINUTES`, with nothing beside it. */
const REFERENCE_MS = 40;
const REFERENCE_CORES = 2;
export const REFERENCE_MINUTES = 10;
/** More is no slow machine but one that does something else. */
const SLOWNESS_MAX = 12;
const ROUNDS = 5;
const HASHED = Buffer.alloc(4 * 2 ** 20, 'skein');
const SORTED = Array.from({ length: 60_000 }, (_, i) => `${(i * 7_919) % 60_013}`);

/** A measurement takes up to half a second of a core, and some suites need hundreds. */
const HOLDS_MS = 5_000;
let last: { readonly slowness: number; readonly endsMs: number } | undefined;

/** Milliseconds of some work of the kinds that suites do: bytes, texts, objects. */
function workMs(): number {
  const beganMs = performance.now();
  createHash('sha256').update(HASHED).digest();
  JSON.parse(JSON.stringify(SORTED.toSorted().map((text) => ({ text }))));
  return performance.now() - beganMs;
}

/**
 * How many times longer than on the reference a run takes here now, by its cores and by what one of them did within the last seconds. Bounds of
 * time that say nothing of the product, as the time-outs of tests, are multiplied by it; never less than 1.
 */
export function machineSlowness(): number {
  if (last !== undefined && performance.now() < last.endsMs) return last.slowness;
  const slowness = measure();
  last = { slowness, endsMs: performance.now() + HOLDS_MS };
  return slowness;
}

function measure(): number {
  const times = Array.from({ length: ROUNDS }, workMs).toSorted((a, b) => a - b);
  // The one in the middle: the first has no compiled code, and others are interrupted.
  const middle = times[Math.floor(ROUNDS / 2)] ?? REFERENCE_MS;
  const cores = Math.min(availableParallelism(), REFERENCE_CORES);
  return Math.min(SLOWNESS_MAX, Math.max(1, (middle / REFERENCE_MS) * (REFERENCE_CORES / cores)));
}
