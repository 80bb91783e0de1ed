import { createHash } from 'node:crypto';

/** The properties of a worker that the choice depends on. */
export type Candidate = { readonly address: string; readonly cores: number; readonly load: number };

/**
 * The worker for a task: by rendezvous hashing of `affinity` (tables, so that a table's files are read by one worker and its caches stay
 * warm), unless that worker has its cores' worth of threads more to do than the least loaded. Without affinity the least loaded.
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
