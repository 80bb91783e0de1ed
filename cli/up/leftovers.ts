import { processIdentity, signalProcess, waitUntil } from '../process-identity.ts';
import { readServices, removeClusterFiles } from '../cluster-file.ts';

/** Time that a new launcher waits for the services of a killed one, which end by themselves, before it kills them. */
const LEFTOVER_MS = 6_000;
const KILLED_MS = 2_000;

/** Ends processes that an earlier cluster of this folder left running. The caller holds the folder's lock. */
export async function endLeftovers(dataDir: string): Promise<void> {
  // Postgres is handled by postgres-process.ts, because it must not be killed in the middle of a checkpoint.
  const left = (readServices(dataDir)?.services ?? []).filter(({ kind }) => kind !== 'postgres');
  const living = (): typeof left => left.filter(({ pid, identity }) => processIdentity(pid) === identity);
  for (const { pid } of living()) signalProcess(pid, 'SIGTERM');
  if (!(await waitUntil(() => living().length === 0, LEFTOVER_MS))) {
    for (const { pid } of living()) signalProcess(pid, 'SIGKILL');
    await waitUntil(() => living().length === 0, KILLED_MS);
  }
  removeClusterFiles(dataDir);
}
