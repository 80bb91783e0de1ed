import { readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
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
  /** Metadata tables as PyIceberg gives them, by table. */
  readonly inspected: Readonly<Record<string, Record<string, { columns: string[]; rows: (string | null)[][] }>>>;
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

  test.each(['time_travel', 'partition_evolution', 'append_delete'])(
    'metadata tables of %s are as PyIceberg gives them',
    async (name) => {
      expect(written.failed[name]).toBeUndefined();
      for (const [what, { columns, rows }] of Object.entries(written.inspected[name] ?? {})) {
        const list = columns.map((column) => `CAST(${column} AS VARCHAR)`).join(', ');
        const ours = await cluster.query(`SELECT ${list} FROM clients."${name}$${what}"`);
        expect(ours.body.message, what).toBeUndefined();
        const sorted = (all: readonly unknown[]) => all.map((row) => JSON.stringify(row)).toSorted();
        expect(sorted(ours.body.rows ?? []), what).toEqual(sorted(rows));
      }
    },
  );

  test('metadata tables: types, bounds, partitions, states, and what is not served', async () => {
    const of = (name: string, sql: string) => cluster.sql(sql.replaceAll('@@', `clients."${name}"`));
    expect(await of('partition_evolution$files', 'SELECT count(*), sum(record_count)::INT FROM @@')).toEqual([[8, 8]]);
    const bounds =
      'SELECT DISTINCT lower_bounds[1], upper_bounds[1], value_counts[1], partition.region FROM @@ WHERE partition.region IS NOT NULL ORDER BY ALL';
    expect(await of('partition_evolution$files', bounds)).toMatchInlineSnapshot(`
      [
        [
          "1",
          "1",
          1,
          "eu",
        ],
        [
          "2",
          "2",
          1,
          "us",
        ],
      ]
    `);
    const partition = 'SELECT partition, record_count, data.ts FROM @@ ORDER BY ALL LIMIT 1';
    expect(await of('partition_evolution$partitions', partition)).toEqual([
      [
        { id_bucket: null, region: 'eu', region_1: null, ts_day: null },
        1,
        { min: '2024-01-01 10:00:00', max: '2024-01-01 10:00:00', null_count: 0, nan_count: null },
      ],
    ]);
    const described = await cluster.sql('DESCRIBE SELECT * FROM clients."partition_evolution$files"');
    expect(described.map((row) => JSON.stringify(row.slice(0, 2)))).toMatchInlineSnapshot(`
      [
        "["content","INTEGER"]",
        "["file_path","VARCHAR"]",
        "["record_count","BIGINT"]",
        "["file_format","VARCHAR"]",
        "["file_size_in_bytes","BIGINT"]",
        "["column_sizes","MAP(INTEGER, BIGINT)"]",
        "["value_counts","MAP(INTEGER, BIGINT)"]",
        "["null_value_counts","MAP(INTEGER, BIGINT)"]",
        "["nan_value_counts","MAP(INTEGER, BIGINT)"]",
        "["lower_bounds","MAP(INTEGER, VARCHAR)"]",
        "["upper_bounds","MAP(INTEGER, VARCHAR)"]",
        "["key_metadata","BLOB"]",
        "["split_offsets","BIGINT[]"]",
        "["equality_ids","INTEGER[]"]",
        "["sort_order_id","INTEGER"]",
        "["spec_id","INTEGER"]",
        "["partition","STRUCT(\\"region\\" VARCHAR, \\"ts_day\\" DATE, \\"id_bucket\\" INTEGER, \\"region_1\\" VARCHAR)"]",
        "["readable_metrics","JSON"]",
      ]
    `);
    expect(
      await of(
        'partition_evolution$entries',
        'SELECT DISTINCT typeof(data_file.record_count), data_file.file_format FROM @@',
      ),
    ).toEqual([['BIGINT', 'PARQUET']]);
    expect(await of('time_travel@begun$files', 'SELECT sum(record_count)::INT FROM @@')).toEqual([[1]]);
    expect(await of('time_travel$files', "SELECT sum(record_count)::INT FROM @@ AT (VERSION => 'begun')")).toEqual([
      [1],
    ]);
    expect(
      await of(
        'time_travel$snapshots',
        "SELECT count(*) FROM @@ s JOIN clients.time_travel t ON s.summary['added-records'] = '1' WHERE t.id = 9",
      ),
    ).toEqual([[3]]);
    expect(await of('defaults$properties', 'SELECT count(*) > 0 FROM @@')).toEqual([[true]]);
    const metrics = `SELECT DISTINCT readable_metrics->'id'->>'null_value_count' FROM @@`;
    expect(await of('append_delete$files', metrics)).toEqual([['0']]);
    expect((await cluster.query('FROM clients."v1$nothing"')).body.sql_state).toBe('42P01');
    expect((await cluster.query('FROM clients."none$files"')).body.sql_state).toBe('42P01');
  });

  test('branches and tags are made, replaced and dropped', async () => {
    const alter = (action: string) => cluster.query(`ALTER TABLE clients.time_travel ${action}`);
    const done = async (action: string) =>
      expect((await alter(action)).body).toMatchObject({ rows: [['ALTER TABLE']] });
    const refused = async (action: string, sqlState: string) =>
      expect((await alter(action)).body.sql_state, action).toBe(sqlState);
    const ids = (ref: string) => cluster.sql(`SELECT id FROM clients."time_travel@${ref}" ORDER BY id`);
    await done(`CREATE TAG june AS OF VERSION ${written.snapshots['second']} RETAIN 7 DAYS`);
    expect(await ids('june')).toEqual([[1], [2]]);
    await refused('CREATE TAG june', '42710');
    await refused('CREATE OR REPLACE BRANCH june', '42710');
    await done('CREATE TAG IF NOT EXISTS june');
    await done("CREATE OR REPLACE TAG june AS OF VERSION 'begun', CREATE BRANCH \"my work\" AS OF VERSION 'june'");
    expect(await ids('june')).toEqual([[1]]);
    expect(await ids('my work')).toEqual([[1], [2]]);
    await refused('CREATE BRANCH other AS OF VERSION 17', '42704');
    await refused('CREATE OR REPLACE BRANCH main', '0A000');
    await refused('DROP BRANCH main', '0A000');
    await refused('DROP BRANCH june', '42704');
    await refused('DROP tag', '42703');
    await refused('CREATE TAG x RETAIN 0 DAYS', '42601');
    await refused('CREATE TAG x RETAIN 9999999 DAYS', '22023');
    await done('DROP TAG june, DROP BRANCH "my work"');
    await done('DROP TAG IF EXISTS june');
    await refused('DROP TAG june', '42704');
    expect((await cluster.query('FROM clients."time_travel@june"')).body.sql_state).toBe('42704');
  });

  test('time travel by tag and branch: a tag has the schema of then, a branch that of now', async () => {
    const both = 'FROM clients.time_travel FOR VERSION AS OF';
    expect(await read('time_travel', `SELECT id, name ${both} 'begun' AS t`)).toEqual([[1, 'a']]);
    expect(await cluster.sql(`SELECT id, label FROM clients."time_travel@side"`)).toEqual([[1, 'a']]);
    const joined = `SELECT n.id, o.name FROM clients.time_travel n, clients.time_travel FOR VERSION AS OF 'begun' o`;
    expect(await cluster.sql(joined)).toEqual([[9, 'a']]);
  });
});

describe('maintenance of tables that PyIceberg wrote', () => {
  const execute = async (table: string, call: string) => {
    const { body } = await cluster.query(`ALTER TABLE clients.${table} EXECUTE ${call}`);
    return body.sql_state ?? Object.fromEntries((body.rows ?? []) as readonly (readonly [string, string])[]);
  };

  test('a rollback makes an ancestor the current snapshot; no snapshot goes', async () => {
    const { first, second } = written.snapshots;
    expect(await execute('time_travel', `rollback_to_snapshot(${second}, dry_run => true)`)).toMatchObject({
      current_snapshot_id: second,
    });
    expect(await cluster.sql('SELECT id FROM clients.time_travel')).toEqual([[9]]);
    expect(await execute('time_travel', `rollback_to_snapshot(snapshot_id => ${second})`)).toMatchObject({
      current_snapshot_id: second,
    });
    expect(await cluster.sql('SELECT id FROM clients.time_travel ORDER BY id')).toEqual([[1], [2]]);
    expect(await execute('time_travel', `rollback_to_snapshot(${first})`)).toMatchObject({
      previous_snapshot_id: second,
    });
    // The way back is no rollback.
    expect(await execute('time_travel', `rollback_to_snapshot(${second})`)).toBe('42704');
    expect(await cluster.sql('SELECT count(*) > 3 FROM clients."time_travel$snapshots"')).toEqual([[true]]);
  });

  test('expired snapshots go with the files that only they reach, and with no other', async () => {
    const rows = await cluster.sql('SELECT * FROM clients.append_delete ORDER BY id');
    const old = await cluster.sql('SELECT path, added_snapshot_id FROM clients."append_delete$manifests"');
    const dry = await execute('append_delete', "expire_snapshots(retention_threshold => '0s', dry_run => true)");
    expect(await cluster.sql('SELECT count(*) > 1 FROM clients."append_delete$snapshots"')).toEqual([[true]]);
    expect(await execute('append_delete', "expire_snapshots(retention_threshold => '0s')")).toEqual(dry);
    expect(Number((dry as Record<string, string>)['deleted_files_count'])).toBeGreaterThan(2);
    expect(await cluster.sql('SELECT count(*) FROM clients."append_delete$snapshots"')).toEqual([[1]]);
    expect(await cluster.sql('SELECT path, added_snapshot_id FROM clients."append_delete$manifests"')).toEqual(old);
    const [[file, live] = []] = await cluster.sql(
      'SELECT min(file_path), count(*)::INT FROM clients."append_delete$files"',
    );
    // The folder of the data holds the files of the last snapshot, and nothing else.
    const folder = dirname(fileURLToPath(new URL(typeof file === 'string' ? file : '')));
    expect((await readdir(folder)).filter((name) => name.endsWith('.parquet'))).toHaveLength(Number(live));
    expect(await cluster.sql('SELECT * FROM clients.append_delete ORDER BY id')).toEqual(rows);
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
    expect(
      await cluster.sql('SELECT id FROM clients.deletion_vectors WHERE id BETWEEN 99998 AND 100002 ORDER BY 1'),
    ).toEqual([[99_998], [100_002]]);
  });

  test('addresses of rows: positions past deleted rows, lineage of format 3, partitions of every spec', async () => {
    const ofVector = `SELECT id, _pos, _row_id, _last_updated_sequence_number, _file LIKE 'file:%.parquet'
      FROM clients.deletion_vectors WHERE id BETWEEN 99998 AND 100002 ORDER BY _pos`;
    expect(await cluster.sql(ofVector)).toEqual([
      [99_998, 99_998, 99_998, 1, true],
      [100_002, 100_002, 100_002, 1, true],
    ]);
    const deleted =
      'SELECT count(DISTINCT (_file, _pos)), count(*), count(DISTINCT _file) FROM clients.position_deletes';
    const [[distinct, all, files] = []] = await cluster.sql(deleted);
    expect([distinct, all, Number(files) > 1]).toEqual([5, 5, true]);
    const partitions = 'SELECT id, _partition FROM clients.partition_evolution WHERE id IN (1, 7) ORDER BY id';
    expect(await cluster.sql(partitions)).toMatchInlineSnapshot(`
      [
        [
          1,
          {
            "id_bucket": null,
            "region": "eu",
            "region_1": null,
            "ts_day": null,
          },
        ],
        [
          7,
          {
            "id_bucket": 3,
            "region": null,
            "region_1": "e",
            "ts_day": "2024-01-01",
          },
        ],
      ]
    `);
    expect(await cluster.sql('SELECT * FROM clients.position_deletes WHERE _pos < 0')).toEqual([]);
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

describe('UPDATE, DELETE and MERGE of tables that others wrote', () => {
  const TABLES = ['append_delete', 'position_deletes', 'equality_deletes', 'deletion_vectors'];

  test.each(TABLES)('%s: PyIceberg reads the same', async (table) => {
    const rowsOf = () => read(table, `SELECT id, name FROM clients.${table} ORDER BY id NULLS FIRST`);
    const before = (await rowsOf()).filter(([id]) => id !== null);
    const [deleted, updated] = before.map(([id]) => Number(id));
    expect(await cluster.sql(`DELETE FROM clients.${table} WHERE id = ${deleted}`)).toEqual([[1]]);
    expect(await cluster.sql(`UPDATE clients.${table} SET name = 'changed' WHERE id = ${updated}`)).toEqual([[1]]);
    await cluster.sql(`MERGE INTO clients.${table} t USING (SELECT unnest([${updated}, 7000001]) AS id) s ON t.id = s.id
      WHEN MATCHED THEN UPDATE SET name = t.name || ' and merged' WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, 'new')`);
    const after = (await rowsOf()).filter(([id]) => id !== null);
    expect(after).toEqual([[updated, 'changed and merged'], ...before.slice(2), [7_000_001, 'new']]);
    if (table === 'equality_deletes') return;
    const token = await cluster.token();
    const output = await python('test/clients/read_rows.py', cluster.catalogUrl, token, 'id,name', `clients.${table}`);
    const seen = (JSON.parse(output) as Readonly<Record<string, readonly Json[][]>>)[`clients.${table}`] ?? [];
    expect(seen.filter(([id]) => id !== null)).toEqual(after);
  });
});

describe('OPTIMIZE of tables that others wrote', () => {
  /** Ids in the order of ORDER BY; format 3 is read by PyIceberg as far as it can. */
  const TABLES = ['position_deletes', 'equality_deletes', 'partition_evolution', 'evolution', 'deletion_vectors'];
  const rowsOf = (table: string) => cluster.sql(`SELECT * FROM clients.${table} ORDER BY id LIMIT 1000`);

  test('rows stay, deletes go, and PyIceberg reads the same', async () => {
    const before = await Promise.all(TABLES.map(rowsOf));
    const vectorRows =
      'SELECT id, _row_id, _last_updated_sequence_number FROM clients.deletion_vectors ORDER BY id LIMIT 1000';
    const lineage = await cluster.sql(vectorRows);
    for (const table of TABLES) await cluster.sql(`OPTIMIZE clients.${table}`);
    expect(await Promise.all(TABLES.map(rowsOf))).toEqual(before);
    expect(await cluster.sql(vectorRows)).toEqual(lineage);
    const metrics = await cluster.sql('OPTIMIZE clients.deletion_vectors');
    expect(metrics).toEqual([
      ['rewritten_data_files_count', 0],
      ['removed_delete_files_count', 0],
      ['added_data_files_count', 0],
    ]);
    const token = await cluster.token();
    const output = await python('test/clients/read_ids.py', cluster.catalogUrl, token, ...TABLES);
    const seen = JSON.parse(output) as Readonly<Record<string, { ids: readonly number[]; deletes: number }>>;
    for (const [i, table] of TABLES.entries()) {
      const column = table === 'evolution' ? 1 : 0;
      const ids = (before[i] ?? []).map((row) => row[column]);
      expect([table, seen[table]]).toEqual([table, { ids, deletes: 0 }]);
    }
  });
});
