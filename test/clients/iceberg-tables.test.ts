import { beforeAll, describe, expect, test } from 'vitest';
import { parseJson, type Json } from '#shared/json.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { python } from '#test/support/python.ts';

/**
 * Tables written by PyIceberg, and by hand after the specification (`write_tables.py`). Skein reads them by field id and applies deletes.
 */
let cluster: Cluster;
let written: {
  readonly snapshots: Readonly<Record<string, string>>;
  readonly failed: Readonly<Record<string, string>>;
};

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  written = parseJson(
    await python('test/clients/write_tables.py', cluster.catalogUrl, await cluster.token()),
  ) as unknown as typeof written;
}, 300_000);

const read = async (table: string, sql: string): Promise<readonly (readonly Json[])[]> => {
  expect(written.failed[table]).toBeUndefined();
  return cluster.sql(sql);
};

describe('tables that PyIceberg wrote', () => {
  test('format version 1', async () => {
    expect(await read('v1', 'SELECT * FROM clients.v1 ORDER BY id')).toEqual([
      [1, 'a'],
      [2, 'b'],
      [3, null],
    ]);
  });

  test('append, delete, append', async () => {
    expect(await read('append_delete', 'SELECT * FROM clients.append_delete ORDER BY id')).toEqual([
      [1, 'n1'],
      [2, 'n2'],
      [3, 'again'],
      [9, 'n9'],
      [10, 'n10'],
    ]);
  });

  test('schema evolution: added, renamed, dropped, promoted, reordered, nested', async () => {
    const columns = 'name, id, ratio, price, point, lines, added, gone';
    expect(await read('evolution', `SELECT ${columns} FROM clients.evolution ORDER BY id`)).toEqual([
      ['a', 1, 0.5, '1.50', { y: 2, px: 1, z: null }, [{ code: 's', qty: 3, note: null }], null, null],
      ['b', 5_000_000_000, 0.1, '1234567.89', { y: 4, px: 3, z: 5 }, [{ code: 't', qty: 1, note: 'n' }], 'new', 7],
    ]);
    const star = await cluster.query('SELECT * FROM clients.evolution LIMIT 1');
    expect(star.body.columns?.[0]).toBe('name');
    expect(await cluster.sql('SELECT id FROM clients.evolution WHERE gone IS NULL AND point.px = 1')).toEqual([[1]]);
    expect(await cluster.sql('SELECT id FROM clients.evolution WHERE id > 4000000000')).toEqual([[5_000_000_000]]);
    expect((await cluster.query('SELECT old_name FROM clients.evolution')).body.sql_state).toBe('42703');
  });

  test('partition evolution, and filters that prune under every spec', async () => {
    const ids = (where: string) =>
      read('partition_evolution', `SELECT id FROM clients.partition_evolution WHERE ${where} ORDER BY id`);
    expect(await ids('true')).toEqual([[1], [2], [3], [4], [5], [6], [7], [8]]);
    expect(await ids("region = 'eu'")).toEqual([[1], [4], [6], [7]]);
    expect(await ids("ts >= TIMESTAMP '2024-01-02'")).toEqual([[2], [5]]);
    expect(await ids("ts < TIMESTAMP '1970-01-01'")).toEqual([[8]]);
    expect(await ids('ts IS NULL')).toEqual([[3], [6]]);
    expect(await ids("id = 7 AND region LIKE 'e%'")).toEqual([[7]]);
    expect(await ids("region > 'ev' OR region IS NULL")).toEqual([[2], [3], [5]]);
  });

  test('files without field ids are read by the name mapping', async () => {
    expect(await read('name_mapping', 'SELECT id, label, extra FROM clients.name_mapping ORDER BY id')).toEqual([
      [1, 'a', null],
      [2, 'b', null],
      [3, 'c', 9],
    ]);
  });

  test('time travel by snapshot, with the schema of then', async () => {
    const at = (name: string) =>
      read(
        'time_travel',
        `SELECT id, name FROM clients.time_travel AT (VERSION => ${written.snapshots[name]}) ORDER BY id`,
      );
    expect(await at('first')).toEqual([[1, 'a']]);
    expect(await at('second')).toEqual([
      [1, 'a'],
      [2, 'b'],
    ]);
    expect(await cluster.sql('SELECT id, label FROM clients.time_travel')).toEqual([[9, 'z']]);
  });
});

describe('tables made by hand from the specification', () => {
  test('position deletes, several files for one data file', async () => {
    expect(await read('position_deletes', 'SELECT * FROM clients.position_deletes ORDER BY id')).toEqual([
      [1, 'a'],
      [3, 'c'],
      [6, 'f'],
      [7, 'g'],
      [8, 'h'],
    ]);
    expect(await cluster.sql('SELECT count(*) FROM clients.position_deletes')).toEqual([[5]]);
    expect(await cluster.sql('SELECT id FROM clients.position_deletes WHERE id = 2')).toEqual([]);
  });

  test('equality deletes, by one column, by NULL, by two columns, and not for newer data', async () => {
    expect(await read('equality_deletes', 'SELECT * FROM clients.equality_deletes ORDER BY id')).toEqual([
      [1, 'a'],
      [2, 'new'],
      [5, 'e'],
      [6, null],
    ]);
    expect(await cluster.sql('SELECT count(*) FROM clients.equality_deletes')).toEqual([[4]]);
  });

  test('format version 3: deletion vectors', async () => {
    const sql = 'SELECT count(*), min(id), max(id), count(*) FILTER (WHERE id % 2 = 1) FROM clients.deletion_vectors';
    expect(await read('deletion_vectors', sql)).toEqual([[99_997, 2, 199_996, 0]]);
    expect(await cluster.sql('SELECT id FROM clients.deletion_vectors WHERE id BETWEEN 99998 AND 100002')).toEqual([
      [99_998],
      [100_002],
    ]);
  });

  test('format version 3: default values of added columns', async () => {
    expect(await read('defaults', 'SELECT * FROM clients.defaults ORDER BY id')).toEqual([
      [1, 'a', 'CH', '1.50', '2024-02-29'],
      [2, 'b', 'CH', '1.50', '2024-02-29'],
      [3, 'c', null, '1.50', '2024-02-29'],
    ]);
    expect(await cluster.sql("SELECT id FROM clients.defaults WHERE country = 'CH' ORDER BY id")).toEqual([[1], [2]]);
  });

  test('a partitioned column that the files lack comes from the partition', async () => {
    expect(await read('partition_constant', 'SELECT * FROM clients.partition_constant ORDER BY id')).toEqual([
      [1, 'x'],
      [2, 'x'],
      [3, null],
    ]);
    expect(await cluster.sql("SELECT id FROM clients.partition_constant WHERE name = 'x' ORDER BY id")).toEqual([
      [1],
      [2],
    ]);
  });
});
