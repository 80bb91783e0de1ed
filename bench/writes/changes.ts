import type { Cluster } from '#test/support/cluster.ts';
import { loadIceberg } from '#test/support/duckdb-extension.ts';
import { median } from '../report/statistics.ts';
import { DuckDbPeer } from '../tpch/duckdb-peer.ts';

/** A change of rows, beside a peer, and what it costs to read the table afterwards. */
export type ChangeFigures = {
  readonly name: string;
  readonly peer: string;
  readonly skeinMs: number;
  readonly peerMs: number;
  readonly ratio: number;
  /** The same query of Skein, over the table that Skein has changed and over that of the peer. */
  readonly readMs: number;
  readonly readPeersMs: number;
};

const CHANGES = [
  {
    name: 'UPDATE of 1 %',
    sql: (table: string) => `UPDATE ${table} SET o_comment = 'changed' WHERE o_orderkey % 100 = 7`,
  },
  { name: 'DELETE of 1 %', sql: (table: string) => `DELETE FROM ${table} WHERE o_orderkey % 100 = 7` },
] as const;
/** Added to a key that the table has: one that it has not. */
const NEW_KEYS = 1_000_000_000;
const READ = (table: string): string => `SELECT count(*), sum(o_totalprice), max(o_comment) FROM ${table}`;
const READINGS = 3;
const STATEMENT_TIMEOUT_MS = 600_000;

/** Makes the rows of a MERGE into a copy of orders: 1 % of the table's, changed, and as many new ones. */
export async function makeMergeRows(cluster: Cluster, rows: string): Promise<void> {
  await cluster.sql(`DROP TABLE IF EXISTS ${rows} PURGE`);
  await cluster.sql(`CREATE TABLE ${rows} AS
    SELECT * REPLACE ('merged' AS o_comment) FROM lake.tpch.orders WHERE o_orderkey % 100 = 7
    UNION ALL
    SELECT * REPLACE (o_orderkey + ${NEW_KEYS} AS o_orderkey) FROM lake.tpch.orders WHERE o_orderkey % 100 = 7`);
}

/** The same statement for every engine. */
export const mergeSql = (table: string, rows: string): string =>
  `MERGE INTO ${table} AS t USING ${rows} AS s ON t.o_orderkey = s.o_orderkey
   WHEN MATCHED THEN UPDATE SET o_comment = s.o_comment WHEN NOT MATCHED THEN INSERT *`;

/**
 * Changes a copy of TPC-H's orders and another one: by Skein, and by DuckDB's iceberg extension on the same catalog; then MERGE beside the
 * UPDATE and the INSERT of the same rows. One warm-up each, then `runs` measured rounds, in turns.
 */
export async function benchChanges(cluster: Cluster, schema: string, runs: number): Promise<readonly ChangeFigures[]> {
  using peer = new DuckDbPeer({ loads: true });
  for (const sql of await loadIceberg()) await peer.ask(sql);
  const token = await cluster.token();
  await peer.ask(`ATTACH 'lake' AS lake (TYPE iceberg, ENDPOINT '${cluster.catalogUrl}', TOKEN '${token}')`);
  const [ours, theirs] = [`${schema}.changed_here`, `${schema}.changed_there`];
  const timed = async (sql: string): Promise<number> => {
    const started = performance.now();
    await cluster.sql(sql, { timeoutMs: STATEMENT_TIMEOUT_MS });
    return performance.now() - started;
  };
  const copy = async (): Promise<void> => {
    for (const table of [ours, theirs]) {
      await cluster.sql(`DROP TABLE IF EXISTS ${table} PURGE`);
      await cluster.sql(`CREATE TABLE ${table} AS SELECT * FROM lake.tpch.orders`);
    }
  };
  const figures: ChangeFigures[] = [];
  const measure = async (
    named: Pick<ChangeFigures, 'name' | 'peer'>,
    here: () => Promise<number>,
    there: () => Promise<number>,
  ): Promise<void> => {
    const times: Record<'here' | 'there' | 'readHere' | 'readThere', number[]> = {
      here: [],
      there: [],
      readHere: [],
      readThere: [],
    };
    for (let round = 0; round <= runs; round++) {
      await copy();
      const took = { here: await here(), there: await there() };
      if (round === 0) continue;
      times.here.push(took.here);
      times.there.push(took.there);
      for (let reading = 0; reading < READINGS; reading++) {
        times.readHere.push(await timed(READ(ours)));
        times.readThere.push(await timed(READ(theirs)));
      }
    }
    const [skeinMs, peerMs] = [median(times.here), median(times.there)];
    const [readMs, readPeersMs] = [median(times.readHere), median(times.readThere)];
    figures.push({ ...named, skeinMs, peerMs, ratio: skeinMs / peerMs, readMs, readPeersMs });
    process.stderr.write('.');
  };
  for (const { name, sql } of CHANGES) {
    await measure(
      { name, peer: 'DuckDB’s iceberg extension' },
      () => timed(sql(ours)),
      async () => (await peer.ask(sql(theirs))).elapsedMs,
    );
  }
  const rows = `${schema}.changes`;
  await makeMergeRows(cluster, rows);
  await measure(
    { name: 'MERGE of as many old and new rows', peer: 'UPDATE and INSERT of them' },
    () => timed(mergeSql(ours, rows)),
    async () =>
      (await timed(
        `UPDATE ${theirs} AS t SET o_comment = s.o_comment FROM ${rows} AS s WHERE t.o_orderkey = s.o_orderkey`,
      )) + (await timed(`INSERT INTO ${theirs} SELECT * FROM ${rows} WHERE o_orderkey > ${NEW_KEYS}`)),
  );
  for (const table of [ours, theirs, rows]) await cluster.sql(`DROP TABLE ${table} PURGE`);
  return figures;
}
