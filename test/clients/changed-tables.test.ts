import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { python } from '#test/support/python.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { CHANGED_TABLES, makeChangedTable, rowsOfChanged } from './changed-tables.ts';

let cluster: Cluster;

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.sql('CREATE SCHEMA lake.changed');
});

afterAll(async () => {
  for (const [name] of CHANGED_TABLES) await cluster.sql(`DROP TABLE IF EXISTS lake.changed.${name} PURGE`);
  await cluster.sql('DROP SCHEMA lake.changed');
});

test.each(CHANGED_TABLES)(
  '%s, format version %i, %s: PyIceberg reads what UPDATE, DELETE and MERGE left',
  async (...kind) => {
    const name = `changed.${kind[0]}`;
    await makeChangedTable(cluster, `lake.${name}`, kind);
    const text = await python(
      'test/clients/read_rows.py',
      cluster.catalogUrl,
      await cluster.token(),
      'id,title,price,day,ok,extra,l,s',
      name,
    );
    const seen =
      (
        JSON.parse(text) as Record<
          string,
          [number, unknown, unknown, unknown, unknown, unknown, number[] | null, { a: number; b: string } | null][]
        >
      )[name] ?? [];
    const theirs = seen.map(([id, title, price, day, ok, extra, l, s]) => [
      String(id),
      title,
      price,
      day,
      ok,
      extra,
      l?.[0] ?? null,
      s?.a ?? null,
      s?.b ?? null,
    ]);
    const ours = await cluster.sql(rowsOfChanged(`lake.${name}`));
    expect(theirs.length).toBeGreaterThan(600);
    expect(theirs).toEqual(ours);
  },
);
