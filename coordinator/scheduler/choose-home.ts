import { chooseWorker } from '../cluster/choose-worker.ts';
import type { LiveWorker } from '../cluster/worker-pool.ts';

/** The address of the worker that `chooseWorker` chooses; undefined when there is none. */
export const chooseHome = (workers: readonly LiveWorker[], affinity: string | undefined): string | undefined =>
  chooseWorker(
    workers.map(({ link, info }) => ({ address: link.address, cores: info.cores, load: link.load })),
    affinity,
  )?.address;
