import type { JobList } from '#proto/generated/skein/catalog/v1/JobList.ts';
import type { RetryJobsReply } from '#proto/generated/skein/catalog/v1/RetryJobsReply.ts';
import type { RetryJobsRequest } from '#proto/generated/skein/catalog/v1/RetryJobsRequest.ts';
import { SkeinError } from '#shared/error.ts';
import { isUuid } from '#shared/id.ts';
import type { CatalogContext } from '../context.ts';
import { listParked, unpark } from '../store/postgres/dropped-table-store.ts';
import { transact } from '../store/postgres/transact.ts';

/** Background jobs that failed too often, for the operator. There is one kind: purges of dropped tables. */

const JOBS_MAX = 1_000;

export async function listJobs({ store }: CatalogContext): Promise<JobList> {
  const parked = await listParked(store.db, JOBS_MAX);
  return {
    jobs: parked.map(({ id, tenant, catalog, namespace, name, parkedAt, reason }) => ({
      id,
      kind: 'purge',
      tenant,
      object: [catalog, ...namespace, name].join('.'),
      parked_at_ms: String(parkedAt.getTime()),
      reason,
    })),
  };
}

/** @throws JOB_NOT_FOUND when no job of the id is parked */
export async function retryJobs(context: CatalogContext, { id }: RetryJobsRequest): Promise<RetryJobsReply> {
  const jobs =
    id !== '' && !isUuid(id)
      ? 0
      : await transact(context.store.db, (tx) =>
          unpark(tx, id === '' ? undefined : id, new Date(context.clock.nowMs())),
        );
  if (jobs === 0 && id !== '') throw new SkeinError('JOB_NOT_FOUND', `no parked job ${id}`);
  context.sweeper.wake();
  return { jobs };
}
