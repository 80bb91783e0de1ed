import type { ClusterFacts } from '../fragment.ts';

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
