import { createHash } from 'node:crypto';

/** The properties of a worker that the choice depends on. */
export type Candidate = { readonly address: string; readonly cores: number; readonly load: number };

/**
 * Chooses the worker of a task by rendezvous hashing of `affinity` (its tables, so that one worker reads a table's files and its caches
 * stay warm). The least loaded worker is chosen instead when there is no affinity, or when the other's load is at least its number of cores
 * above the lowest load. Loads are in threads.
 */
export function chooseWorker<W extends Candidate>(workers: readonly W[], affinity: string | undefined): W | undefined {
  const least = workers.toSorted((a, b) => a.load - b.load || (a.address < b.address ? -1 : 1))[0];
  if (least === undefined || affinity === undefined) return least;
  const sticky = workers
    .map((worker) => ({ worker, weight: weight(worker.address, affinity) }))
    .toSorted((a, b) => (a.weight < b.weight ? 1 : -1))[0]?.worker;
  return sticky !== undefined && sticky.load < least.load + sticky.cores ? sticky : least;
}

const weight = (address: string, affinity: string): string =>
  createHash('sha1').update(address).update('\0').update(affinity).digest('hex');
