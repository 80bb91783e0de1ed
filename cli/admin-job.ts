import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { callCatalog, findTarget, type Target } from './catalog-rpc.ts';
import type { Flags } from './command.ts';
import { EXIT, UsageError, type ExitCode } from './exit-code.ts';
import { printTable } from './print-table.ts';

/** `skein admin job ...`: background jobs that failed too often and are parked. */

export type ParkedJob = {
  readonly id: string;
  readonly kind: string;
  readonly tenant: string;
  /** `catalog.namespace.table` */
  readonly object: string;
  /** ISO 8601. */
  readonly parked_at: string;
  readonly reason: string;
};

/** @throws CATALOG_UNAVAILABLE */
export async function parkedJobs(target: Target): Promise<readonly ParkedJob[]> {
  const { jobs } = await callCatalog(target, 'ListJobs', {});
  return jobs.map(({ id, kind, tenant, object, parked_at_ms: ms, reason }) => ({
    id,
    kind,
    tenant,
    object,
    parked_at: new Date(Number(ms)).toISOString(),
    reason,
  }));
}

export function jobTable(jobs: readonly ParkedJob[]): string {
  const header = ['job', 'kind', 'tenant', 'object', 'parked_at', 'reason'];
  return printTable(
    header,
    jobs.map((job) => [job.id, job.kind, job.tenant, job.object, job.parked_at, job.reason.replaceAll(/\s+/g, ' ')]),
  );
}

export async function listJobs(loaded: LoadedConfig, json: boolean): Promise<ExitCode> {
  const jobs = await parkedJobs(findTarget(loaded));
  process.stdout.write(json ? `${JSON.stringify({ jobs })}\n` : jobTable(jobs));
  return EXIT.ok;
}

/** One job by its id, or with `--all` every one. */
export async function retryJobs(loaded: LoadedConfig, flags: Flags, ids: readonly string[]): Promise<ExitCode> {
  const [id, ...others] = ids;
  if (others.length > 0 || (id === undefined) !== flags.has('all')) throw new UsageError('expected one JOB, or --all');
  const { jobs } = await callCatalog(findTarget(loaded), 'RetryJobs', { id: id ?? '' });
  process.stdout.write(`${JSON.stringify({ retried: jobs })}\n`);
  return EXIT.ok;
}
