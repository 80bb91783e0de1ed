import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { python } from '#test/support/python.ts';
import { sharedCluster } from '#test/support/resources.ts';

const TABLE = 'lake.beside_others.t';
/** Rows that PyIceberg appends, and clients of Skein that insert at once, again and again until it is done. */
const THEIRS = 8;
const CLIENTS = 4;
/** Between two rounds of INSERTs: PyIceberg, which is slower, would lose every race against clients that never rest. */
const PAUSE_MS = 500;

test('PyIceberg and small INSERTs that share commits write one table at once, and lose nothing', async () => {
  const { cluster } = await sharedCluster();
  await cluster.sql('CREATE SCHEMA lake.beside_others');
  await cluster.sql(`CREATE TABLE ${TABLE} (i BIGINT, t VARCHAR)`);
  const over = new AbortController();
  const inserted: number[] = [];
  const insert = async (i: number): Promise<void> => {
    await cluster.sql(`INSERT INTO ${TABLE} VALUES (${i}, 'skein')`);
    inserted.push(i);
  };
  const rounds = async (): Promise<void> => {
    for (let round = 0; !over.signal.aborted; round++) {
      await Promise.all(Array.from({ length: CLIENTS }, (_, client) => insert(round * CLIENTS + client)));
      await sleep(PAUSE_MS);
    }
  };
  const inserting = rounds();
  const appending = python(
    'test/clients/write_beside.py',
    cluster.catalogUrl,
    await cluster.token(),
    'beside_others.t',
    '1000000',
    String(THEIRS),
  );
  const output = await appending.finally(() => over.abort());
  await inserting;
  const { appended } = JSON.parse(output) as { readonly appended: readonly number[] };
  expect(appended).toHaveLength(THEIRS);
  expect(inserted.length).toBeGreaterThan(CLIENTS);
  const wanted = [...inserted, ...appended].sort((a, b) => a - b);
  const rows = await cluster.sql(`SELECT i FROM ${TABLE} ORDER BY i`);
  expect(rows.map(([i]) => i)).toEqual(wanted);
  // And PyIceberg reads what was written last.
  const again = await python(
    'test/clients/write_beside.py',
    cluster.catalogUrl,
    await cluster.token(),
    'beside_others.t',
    '2000000',
    '1',
  );
  expect((JSON.parse(again) as { readonly rows: readonly number[] }).rows).toEqual([...wanted, 2_000_000]);
  await cluster.sql(`DROP TABLE ${TABLE} PURGE`);
  await cluster.sql('DROP SCHEMA lake.beside_others');
});
