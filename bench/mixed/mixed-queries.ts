import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '#test/support/cluster.ts';

/** The three kinds of clients of a shared cluster, named as the classes of their queries. */
export const KINDS = ['interactive', 'medium', 'batch'] as const;
export type Kind = (typeof KINDS)[number];

/** How many clients of a kind there are, and how long each waits between an answer and its next query. */
export const CLIENTS: Readonly<Record<Kind, { readonly clients: number; readonly pauseMs: number }>> = {
  interactive: { clients: 48, pauseMs: 1_500 },
  medium: { clients: 12, pauseMs: 5_000 },
  batch: { clients: 4, pauseMs: 0 },
};

/** TPC-H queries of three joins and more, which are batch by their plans. */
const BATCH = ['q05', 'q07', 'q08', 'q09', 'q18', 'q21'];
/** TPC-H order keys are the first 8 of every 32 integers. */
const ORDER_KEYS_PER_SCALE = 6_000_000;

/** Gives each client its queries, in a fixed order, over tables of a schema; `''` = names without one. */
export type MixedQueries = (kind: Kind, client: number, count: number) => string;

export async function mixedQueries(scale: number): Promise<MixedQueries> {
  const batch = await Promise.all(
    BATCH.map(async (name) => (await readFile(join(projectRoot, `test/tpch/queries/${name}.sql`), 'utf8')).trim()),
  );
  return (kind, client, count) => {
    const turn = client * 7_919 + count * 104_729;
    switch (kind) {
      case 'interactive': {
        const block = turn % Math.floor((ORDER_KEYS_PER_SCALE * scale) / 32);
        return `SELECT o_orderkey, o_totalprice, o_orderdate FROM orders WHERE o_orderkey = ${block * 32 + 1}`;
      }
      case 'medium': {
        const month = `${1993 + (turn % 5)}-${String(1 + (turn % 12)).padStart(2, '0')}-01`;
        return `SELECT c_mktsegment, count(*), sum(o_totalprice) FROM orders JOIN customer ON c_custkey = o_custkey
          WHERE o_orderdate >= DATE '${month}' AND o_orderdate < DATE '${month}' + INTERVAL 1 MONTH GROUP BY 1 ORDER BY 1`;
      }
      case 'batch':
        return (batch[(client + count) % batch.length] ?? '').replace(/;\s*$/, '');
    }
  };
}
