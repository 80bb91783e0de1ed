import type { ClusterFacts } from '../fragment.ts';

/** Whether some worker can use as many cores as all of them together: then distributing makes nothing sooner. */
export const oneHasEveryCore = (cluster: ClusterFacts): boolean =>
  clusterCores(cluster) <= Math.max(0, ...cluster.workers.map(({ slots, machine }) => Math.min(slots, machine.cores)));

/** Cores that all workers have together: those of one machine share its own. */
export function clusterCores({ workers }: ClusterFacts): number {
  const machines = new Map<string, { slots: number; cores: number }>();
  for (const { slots, machine } of workers) {
    const seen = machines.get(machine.id) ?? { slots: 0, cores: machine.cores };
    machines.set(machine.id, { ...seen, slots: seen.slots + slots });
  }
  return [...machines.values()].reduce((total, { slots, cores }) => total + Math.min(slots, cores), 0);
}
