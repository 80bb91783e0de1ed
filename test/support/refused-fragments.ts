import type { Cluster } from './cluster.ts';

/**
 * Times that the cluster's coordinator ran a query whole because DuckDB did not bind a fragment that was printed for it; it logs the SQL.
 */
export async function refusedFragments(cluster: Cluster): Promise<number> {
  const page = await (await fetch(`${cluster.queryUrl}/metrics`)).text();
  const [, count] = /^skein_fragments_refused_total (\d+)$/m.exec(page) ?? [];
  if (count === undefined) throw new Error('the coordinator has no metric skein_fragments_refused_total');
  return Number(count);
}
