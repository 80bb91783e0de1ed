import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { differences } from '#test/support/compare-rows.ts';
import type { KeptAnswers } from '#test/support/kept-answers.ts';
import { TPCH_QUERIES } from './tpch-queries.ts';

/** A cluster that has the tables in `lake.tpch`, and DuckDB's answers on the same files. */
type LoadedTpch = { readonly cluster: Cluster; readonly answers: KeptAnswers };

/** The 22 queries at one scale. */
export function tpchSuite(scale: string, load: () => Promise<LoadedTpch>): void {
  describe(`TPC-H at scale ${scale}: the answers are DuckDB’s on the same files`, () => {
    let loaded: LoadedTpch;
    const session = randomUUID();

    beforeAll(async () => {
      loaded = await load();
      await loaded.cluster.sql('USE lake.tpch', { sessionId: session });
    }, 600_000);

    afterAll(() => loaded?.answers.close());

    test.each(TPCH_QUERIES)('$name', async ({ sql }) => {
      const expected = await loaded.answers.rows(sql);
      const { status, body } = await loaded.cluster.query(sql, { sessionId: session, timeoutMs: 120_000 });
      expect(body.message).toBeUndefined();
      expect(status).toBe(200);
      expect(differences(must(body.rows, 'rows'), expected)).toBeNull();
      expect(body.row_count).toBe(expected.length);
      expect(body.columns?.length).toBe(body.types?.length);
    });
  });
}
