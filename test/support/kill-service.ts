import type { Client } from 'pg';
import type { StartedCluster } from './cluster.ts';

/** Environment of a cluster whose services a suite kills again and again: each starts again within half a second. */
export const RESTARTS_SOON = { SKEIN_UP_RESTART_PAUSE_MAX: '500ms' } as const;

/** A kind of service, or `connections`: those of all processes with Postgres, as when it crashes. */
export type Killed = 'coordinator' | 'worker' | 'catalog' | 'connections';

/** Ends with SIGKILL a process of the cluster, of several workers the first; or all connections to its database but those of the test. */
export async function killService(
  kind: Killed,
  { cluster, own }: { readonly cluster: StartedCluster; readonly own: readonly Client[] },
): Promise<void> {
  if (kind !== 'connections') {
    process.kill(await cluster.pidOf(kind), 'SIGKILL');
    return;
  }
  const [first] = own;
  const ids = own.map((one) => (one as Client & { readonly processID: number }).processID);
  await first?.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> ALL($1)',
    [ids],
  );
}
