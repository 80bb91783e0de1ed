import type { SentTask } from '#shared/task/task.ts';
import type { Slot } from './slot.ts';

/** A quantum that does not react to interrupts. */
export type HungQuantum = { readonly spec: SentTask; readonly ageMs: number };

/** Returns the quantum that has gone on longest, at least `overrunMs`, after its statement was stopped; null = there is none. */
export function hungQuantum(slots: readonly Slot[], overrunMs: number): HungQuantum | null {
  const [hung] = slots
    .filter(({ stoppedMs }) => stoppedMs >= overrunMs)
    .toSorted((one, other) => other.stoppedMs - one.stoppedMs);
  const { current, watched } = hung ?? {};
  return current === undefined || watched?.kind !== 'inside'
    ? null
    : { spec: current.start.spec, ageMs: watched.ageMs };
}
