import type { Config } from '#shared/config/config-schema.ts';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { SkeinError } from '#shared/error.ts';
import { accepts } from './accepts.ts';
import { jobTable, parkedJobs, type ParkedJob } from './admin-job.ts';
import { findTarget, mintToken } from './catalog-rpc.ts';
import { findCluster, type ServiceRecord } from './cluster-file.ts';
import { doorFetch, doorTrust, type DoorTrust } from './door-fetch.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { hostStatus } from './host-status.ts';
import { processIdentity } from './process-identity.ts';
import { printTable } from './print-table.ts';

const PROBE_TIMEOUT_MS = 2_000;

export type ServiceStatus = {
  readonly kind: ServiceRecord['kind'];
  readonly name: string;
  readonly pid: number;
  readonly url: string | null;
  readonly state: 'up' | 'down';
};

/** `skein status`: of the cluster in the data directory, else of the one whose etcd is configured. @throws NO_CLUSTER */
export async function status(loaded: LoadedConfig, json: boolean): Promise<ExitCode> {
  if (isOfHosts(loaded.config)) return hostStatus(loaded, json);
  const services = await serviceStates(loaded.config);
  const isUp = (wanted: ServiceRecord['kind']): boolean =>
    services.some(({ kind, state }) => kind === wanted && state === 'up');
  const jobs = isUp('catalog') ? await parked(loaded) : null;
  const problem = isUp('catalog') && isUp('coordinator') ? await workloadProblem(loaded) : undefined;
  if (json) {
    process.stdout.write(`${JSON.stringify({ services, parked_jobs: jobs, workload_file_problem: problem })}\n`);
    return EXIT.ok;
  }
  const rows = services.map(({ kind, name, pid, url, state }) => [kind, name, state, String(pid), url ?? '']);
  process.stdout.write(printTable(['kind', 'name', 'state', 'pid', 'url'], rows));
  if (jobs !== null && jobs.length > 0) {
    const how = 'skein admin job retry JOB has one tried again';
    process.stdout.write(`\n${jobs.length} background jobs are parked (${how}):\n${jobTable(jobs)}`);
  }
  if (typeof problem === 'string')
    process.stdout.write(`\nThe workload file is not valid, and the one before it stays in force: ${problem}\n`);
  return EXIT.ok;
}

/** Parked jobs; null when the catalog does not answer, or this user may not ask it. */
async function parked(loaded: LoadedConfig): Promise<readonly ParkedJob[] | null> {
  try {
    return await parkedJobs(findTarget(loaded));
  } catch {
    return null;
  }
}

/** Whether no cluster runs in the data directory, and etcd knows one of several hosts. */
export function isOfHosts(config: Config): boolean {
  try {
    findCluster(config.data_dir);
    return false;
  } catch (error) {
    if (SkeinError.of(error).code !== 'NO_CLUSTER') throw error;
    return config['cluster.etcd_endpoints'].length > 0;
  }
}

/**
 * The problem that the coordinator has with its workload file; null = none, undefined when it does not answer, or this user may not ask it.
 * Only the coordinator knows: it may have been given another file than this command, and keeps the one before when a file is gone.
 */
async function workloadProblem(loaded: LoadedConfig): Promise<string | null | undefined> {
  try {
    const target = findTarget(loaded);
    const response = await doorFetch(`${target.queryUrl}/api/cluster?limit=1`, target.trust, {
      headers: { authorization: `Bearer ${await mintToken(target)}` },
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    });
    if (!response.ok) return undefined;
    return ((await response.json()) as { readonly workload_file_problem?: string | null }).workload_file_problem;
  } catch {
    return undefined;
  }
}

/** Every service of the cluster; `up` is a process that lives and answers. @throws NO_CLUSTER */
export function serviceStates(config: Config): Promise<readonly ServiceStatus[]> {
  const { services, door_certificates: certificates } = findCluster(config.data_dir).services;
  const trust = doorTrust(config, certificates);
  return Promise.all(
    services.map(async ({ kind, name, pid, identity, url }) => {
      const lives = processIdentity(pid) === identity;
      const state = lives && (await answers(kind, url, trust)) ? ('up' as const) : ('down' as const);
      return { kind, name, pid, url, state };
    }),
  );
}

async function answers(kind: ServiceRecord['kind'], url: string | null, trust: DoorTrust): Promise<boolean> {
  if (url === null) return true;
  switch (kind) {
    case 'catalog':
    case 'coordinator':
      return doorFetch(`${url}/health`, trust, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) }).then(
        (response) => response.ok,
        () => false,
      );
    case 'postgres':
    case 'worker':
      return accepts(new URL(url).host, PROBE_TIMEOUT_MS);
  }
}
