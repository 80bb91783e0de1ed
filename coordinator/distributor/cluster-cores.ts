import type { ClusterFacts } from './fragment.ts';

/** Cores that all workers have together: those of one machine share its own. */
export function clusterCores({ workers }: ClusterFacts): number {
  const machines = new Map<string, { slots: number; cores: number }>();
  for (const { slots, machine } of workers) {
    const seen = machines.get(machine.id) ?? { slots: 0, cores: machine.cores };
    machines.set(machine.id, { ...seen, slots: seen.slots + slots });
  }
  return [...machines.values()].reduce((total, { slots, cores }) => total + Math.min(slots, cores), 0);
}
