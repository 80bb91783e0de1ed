import type { Asker } from '#shared/fair/asker.ts';

/**
 * The part of a slot's time that another task of `asker` would get beside these tasks, 0 to 1. It is shared as in `FairQueue`: evenly
 * between tenants, then between a tenant's principals, then between the tasks of one.
 */
export function partFor({ tenant, principal }: Asker, tasks: Iterable<Asker>): number {
  const tenants = new Set([tenant]);
  const principals = new Set([principal]);
  let own = 1;
  for (const task of tasks) {
    tenants.add(task.tenant);
    if (task.tenant !== tenant) continue;
    principals.add(task.principal);
    if (task.principal === principal) own++;
  }
  return 1 / (tenants.size * principals.size * own);
}

/** The facts of a slot that decide whether a task is placed on it. */
export interface Placeable {
  readonly isBusy: boolean;
  readonly attempts: { readonly size: number };
  askers(): Iterable<Asker>;
}

/** The slot for a task: an idle one before the others, then the one where it gets most, then the one with the fewest tasks. */
export function bestSlot<Slot extends Placeable>(asker: Asker, slots: readonly Slot[]): Slot | undefined {
  const [best] = slots
    .map((slot) => ({
      slot,
      isBusy: Number(slot.isBusy),
      part: partFor(asker, slot.askers()),
      tasks: slot.attempts.size,
    }))
    .toSorted((a, b) => a.isBusy - b.isBusy || b.part - a.part || a.tasks - b.tasks);
  return best?.slot;
}
