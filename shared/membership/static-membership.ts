import { memberAddress, type Membership } from './member.ts';

/** The workers that the configuration names (`cluster.workers`): a fixed list, reported once. */
export function staticMembership(workerUrls: readonly string[]): Membership {
  const workers = [...new Set(workerUrls.map(memberAddress))].map(
    (address) => ({ kind: 'worker', id: address, name: address, address }) as const,
  );
  return {
    watch: (kind, onChange) => queueMicrotask(() => onChange(kind === 'worker' ? workers : [])),
    close: () => Promise.resolve(),
  };
}
