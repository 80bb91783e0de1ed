import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD, type Cluster } from '#test/support/cluster.ts';
import { pythonIn } from '#test/support/python.ts';

/** A script's answer: how long each of its takes has lasted, and what one of them has moved. */
export type TimedRows = { readonly ms: readonly number[]; readonly rows: number; readonly bytes: number };

/** Runs a script of this folder. */
export async function timedRows(
  environment: 'flight' | 'python',
  script: string,
  args: readonly string[],
): Promise<TimedRows> {
  return JSON.parse(await pythonIn(environment, `bench/flight/${script}`, ...args)) as TimedRows;
}

export const flightUrl = (cluster: Cluster): string => must(cluster.ready.flight_sql_url, 'it serves Flight SQL');

/** The first arguments of the scripts that sign in. */
export const signIn = (cluster: Cluster): readonly string[] => [flightUrl(cluster), cluster.ready.user, ADMIN_PASSWORD];
