import type { ClusterFacts, TaskWidth } from '../fragment.ts';

/** Whether one worker can use as many cores as all workers together: then distributing makes no query faster. */
export const oneHasEveryCore = (cluster: ClusterFacts): boolean =>
  clusterCores(cluster) <= Math.max(0, ...cluster.workers.map(({ slots, machine }) => Math.min(slots, machine.cores)));

/** Returns the cores that all workers can use together. Workers on one machine share its cores. */
export function clusterCores({ workers }: ClusterFacts): number {
  const machines = new Map<string, { slots: number; cores: number }>();
  for (const { slots, machine } of workers) {
    const seen = machines.get(machine.id) ?? { slots: 0, cores: machine.cores };
    machines.set(machine.id, { ...seen, slots: seen.slots + slots });
  }
  return [...machines.values()].reduce((total, { slots, cores }) => total + Math.min(slots, cores), 0);
}

type WorkerCores = ClusterFacts['workers'][number];

/**
 * Cores of one task that takes a share of its worker, at most: the slot's one thread takes in what the task reads of others and writes
 * what it gives.
 */
const TASK_CORES_MAX = 8;

/** The tasks of a stage that a worker runs side by side, and the cores that they have together and each. */
export type StageRoom = { readonly tasks: number; readonly cores: number; readonly taskCores: number };

/**
 * Returns the room that each worker has for a stage, in the order of the workers. Tasks with a share of their worker are one for every
 * `TASK_CORES_MAX` cores; workers on one machine share its cores by their slots, because a task with more threads than cores costs more.
 * ```
 * 8 slots on 8 cores            1 task of 8 cores
 * 12 slots on 12 cores          2 tasks of 6 cores
 * 2 workers of 8 slots on 2     1 task of 1 core on each
 * ```
 */
export function stageRooms(workers: readonly WorkerCores[], width: TaskWidth): readonly StageRoom[] {
  if (width !== 'share') {
    return workers.map(({ slots }) => ({
      tasks: slots,
      cores: slots,
      taskCores: width === 'worker' ? slots : Math.min(width, slots),
    }));
  }
  const slotsOn = new Map<string, number>();
  for (const { slots, machine } of workers) slotsOn.set(machine.id, (slotsOn.get(machine.id) ?? 0) + slots);
  return workers.map(({ slots, machine }) => {
    const share = Math.ceil((machine.cores * slots) / (slotsOn.get(machine.id) ?? slots));
    const cores = Math.max(1, Math.min(slots, share));
    const tasks = Math.ceil(cores / TASK_CORES_MAX);
    return { tasks, cores, taskCores: Math.floor(cores / tasks) };
  });
}
