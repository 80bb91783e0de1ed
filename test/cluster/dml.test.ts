import { readFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projectRoot, type Cluster } from '#test/support/cluster.ts';
import type { Json } from '#shared/json.ts';
import { python, pythonIn } from '#test/support/python.ts';
import { filesBelow, hasLocalFiles, pyIceberg, sharedCluster } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';

const SCHEMA = 'lake.dml';
let cluster: Cluster;

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.sql(`CREATE SCHEMA ${SCHEMA}`);
});
afterAll(async () => {
  for (const table of [
    'failing',
    'meeting',
    'snapshots',
    'months',
    'changed',
    'counters',
    'merged',
    'replaced',
    'returned',
    'hinted',
    'valued',
    'marked_2',
    'marked_3',
  ])
    await cluster.sql(`DROP TABLE IF EXISTS ${SCHEMA}.${table} PURGE`);
  await cluster.sql(`DROP SCHEMA ${SCHEMA}`);
});

/** Every file of a table but its metadata documents. */
async function filesOf(table: string): Promise<readonly string[]> {
  const { body } = await cluster.catalog('GET', `/v1/lake/namespaces/dml/tables/${table}`);
  const { location } = (body as { metadata: { location: string } }).metadata;
  return (await filesBelow(location)).filter((file) => /\.(?:parquet|puffin|avro)$/.test(file));
}

test('a DELETE that fails or finds nothing leaves no file, and one that succeeds only those of its snapshot', async () => {
  await cluster.sql(`CREATE TABLE ${SCHEMA}.failing AS SELECT i AS id, 'n' || i AS name FROM range(5000) AS r(i)`);
  const before = await filesOf('failing');
  const { body } = await cluster.query(`DELETE FROM ${SCHEMA}.failing WHERE CAST(name AS INTEGER) = 1`);
  expect(body.error).toBe('INVALID_CAST');
  expect(await cluster.sql(`DELETE FROM ${SCHEMA}.failing WHERE id < 0`)).toEqual([[0]]);
  expect(await filesOf('failing')).toEqual(before);
  expect(await cluster.sql(`DELETE FROM ${SCHEMA}.failing WHERE id < 10`)).toEqual([[10]]);
  await expect
    .poll(async () => (await filesOf('failing')).filter((file) => file.endsWith('.puffin')), {
      timeout: patience(10_000),
    })
    .toEqual([]);
  // The file that was written anew, and manifest and list of the snapshot with it: the old one with its file as deleted, the new one's.
  expect(await filesOf('failing')).toHaveLength(before.length + 4);
});

test('a condition that calls random() is evaluated once', async () => {
  const table = `${SCHEMA}.failing`;
  const [[before] = []] = await cluster.sql(`SELECT count(*)::INT FROM ${table}`);
  const [[gone] = []] = await cluster.sql(`DELETE FROM ${table} WHERE random() < 0.5`);
  expect(Number(gone)).toBeGreaterThan(1_000);
  expect(await cluster.sql(`SELECT count(*)::INT FROM ${table}`)).toEqual([[Number(before) - Number(gone)]]);
});

test('statements that meet on one table: each deletes its rows, and inserted rows that match a later condition stay or go as a whole', async () => {
  const table = `${SCHEMA}.meeting`;
  await cluster.sql(`CREATE TABLE ${table} (id INT, part INT) PARTITIONED BY (part)`);
  await cluster.sql(`INSERT INTO ${table} SELECT i, i % 4 FROM range(400) AS r(i)`);
  const answers = await Promise.all(
    [0, 1, 2, 3].flatMap((part) => [
      cluster.sql(`DELETE FROM ${table} WHERE part = ${part} AND id < 200`),
      cluster.sql(`DELETE FROM ${table} WHERE part = ${part} AND id >= 390`),
      cluster.sql(`INSERT INTO ${table} VALUES (1000, ${part})`),
    ]),
  );
  const deleted = answers.filter((_, i) => i % 3 !== 2).reduce((sum, [row]) => sum + Number(row?.[0]), 0);
  const inserted = 4;
  const [[left] = []] = await cluster.sql(`SELECT count(*)::INT FROM ${table}`);
  expect(left).toBe(400 + inserted - deleted);
  expect(await cluster.sql(`SELECT count(*)::INT FROM ${table} WHERE id < 200`)).toEqual([[0]]);
  expect(await cluster.sql(`SELECT count(*)::INT FROM ${table} WHERE id BETWEEN 200 AND 389`)).toEqual([[190]]);
});

test('with isolation level snapshot a DELETE does not begin again for rows that came later', async () => {
  const table = `${SCHEMA}.snapshots`;
  await cluster.sql(`CREATE TABLE ${table} (id INT) WITH ('write.delete.isolation-level' = 'snapshot')`);
  await cluster.sql(`INSERT INTO ${table} SELECT i FROM range(100) AS r(i)`);
  const answers = await Promise.all([
    cluster.sql(`DELETE FROM ${table} WHERE id < 50`),
    ...[1, 2, 3].map((i) => cluster.sql(`INSERT INTO ${table} VALUES (${100 + i})`)),
  ]);
  expect(answers[0]).toEqual([[50]]);
  expect(await cluster.sql(`SELECT count(*)::INT FROM ${table}`)).toEqual([[53]]);
});

test('an UPDATE evaluates values and condition once, and leaves no file but those of its snapshot', async () => {
  const table = `${SCHEMA}.changed`;
  await cluster.sql(`CREATE TABLE ${table} AS SELECT i AS id, 0.0::DOUBLE AS x FROM range(50000) AS r(i)`);
  const [[count] = []] = await cluster.sql(`UPDATE ${table} SET x = random() + 1 WHERE random() < 0.3`);
  expect(Number(count)).toBeGreaterThan(10_000);
  const [seen] = await cluster.sql(
    `SELECT count(*)::INT, count(DISTINCT id)::INT, sum((x >= 1)::INT)::INT FROM ${table}`,
  );
  expect(seen).toEqual([50_000, 50_000, count]);
  const listed = await cluster.sql(`SELECT count(*)::INT FROM ${SCHEMA}."changed$files"`);
  await expect
    .poll(async () => (await filesOf('changed')).filter((file) => /staged|puffin/.test(file)), {
      timeout: patience(10_000),
    })
    .toEqual([]);
  const data = (await filesOf('changed')).filter((file) => file.endsWith('.parquet'));
  // Those of the first snapshot are there, too.
  expect(data.length).toBeGreaterThan(Number(listed[0]?.[0]));
  const before = await filesOf('changed');
  const { body } = await cluster.query(`UPDATE ${table} SET x = CAST('n' || id AS DOUBLE)`);
  expect(body.error).toBe('INVALID_CAST');
  await expect.poll(() => filesOf('changed'), { timeout: patience(10_000) }).toEqual(before);
});

test('UPDATEs that meet on the same rows are all there', async () => {
  const table = `${SCHEMA}.counters`;
  await cluster.sql(`CREATE TABLE ${table} AS SELECT i AS id, 0 AS n FROM range(100) AS r(i)`);
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => cluster.sql(`UPDATE ${table} SET n = n + 1 WHERE id % 2 = 0`)),
  );
  expect(answers).toEqual(Array.from({ length: 5 }, () => [[50]]));
  expect(await cluster.sql(`SELECT sum(n)::INT, max(n), count(*)::INT FROM ${table}`)).toEqual([[250, 5, 100]]);
});

test('INSERT OVERWRITEs that meet on one table: each sees the rows of the one before, and none of an INSERT is lost', async () => {
  const table = `${SCHEMA}.replaced`;
  await cluster.sql(`CREATE TABLE ${table} (id INT, part INT, n INT) PARTITIONED BY (part)`);
  await cluster.sql(`INSERT INTO ${table} SELECT i, i % 2, 0 FROM range(100) AS r(i)`);
  const more = `INSERT OVERWRITE ${table} SELECT id, part, n + 1 FROM ${table} WHERE part = 0`;
  const answers = await Promise.all([
    ...Array.from({ length: 4 }, () => cluster.sql(more)),
    cluster.sql(`INSERT INTO ${table} VALUES (1000, 0, 10)`),
    cluster.sql(`INSERT INTO ${table} VALUES (1001, 1, 10)`),
  ]);
  for (const [[count] = []] of answers.slice(0, 4)) expect([50, 51]).toContain(count);
  expect(
    await cluster.sql(`SELECT part, count(*)::INT, min(n), max(n) >= 10 FROM ${table} GROUP BY part ORDER BY part`),
  ).toEqual([
    [0, 51, 4, true],
    [1, 51, 0, true],
  ]);
  const operations = await cluster.sql(
    `SELECT operation, count(*)::INT FROM ${SCHEMA}."replaced$snapshots" GROUP BY 1 ORDER BY 1`,
  );
  expect(operations[1]).toEqual(['overwrite', 4]);
});

test('RETURNING answers the rows that were written, however they were made up, and leaves no file but theirs', async () => {
  const table = `${SCHEMA}.returned`;
  await cluster.sql(`CREATE TABLE ${table} (id INT, v DOUBLE)`);
  const inserted = await cluster.sql(
    `INSERT INTO ${table} SELECT i, random() FROM range(5000) AS r(i) RETURNING id, v`,
  );
  expect(inserted).toHaveLength(5000);
  const read = (): Promise<readonly (readonly unknown[])[]> => cluster.sql(`SELECT id, v FROM ${table} ORDER BY id`);
  const byId = (rows: readonly (readonly unknown[])[]): readonly (readonly unknown[])[] =>
    rows.toSorted(([a], [b]) => Number(a) - Number(b));
  const before = await read();
  expect(byId(inserted)).toEqual(before);
  const updated = await cluster.sql(`UPDATE ${table} SET v = random() + 1 WHERE random() < 0.5 RETURNING id, v`);
  expect(byId(updated)).toEqual((await read()).filter(([, v]) => Number(v) >= 1));
  const deleted = await cluster.sql(`DELETE FROM ${table} WHERE random() < 0.5 RETURNING id, v`);
  const left = await read();
  expect(deleted.length + left.length).toBe(5000);
  expect(left.filter(([id]) => deleted.some(([gone]) => gone === id))).toEqual([]);
  await expect
    .poll(async () => (await filesOf('returned')).filter((file) => /staged|puffin/.test(file)), {
      timeout: patience(10_000),
    })
    .toEqual([]);
});

test('rows of RETURNING that are many wait on disk', async () => {
  const table = `${SCHEMA}.returned`;
  const rows = await cluster.sql(
    `INSERT OVERWRITE ${table} SELECT i, i / 7 FROM range(200000) AS r(i) RETURNING id, repeat('é', 100), v`,
  );
  expect(rows).toHaveLength(200_000);
  expect(new Set(rows.map(([id]) => id)).size).toBe(200_000);
  const { body } = await cluster.query(`DELETE FROM ${table} RETURNING CAST('n' || nullif(id, 0) AS INTEGER)`);
  expect(body.error).toBe('INVALID_CAST');
  expect(await cluster.sql(`SELECT count(*)::INT FROM ${table}`)).toEqual([[200_000]]);
});

test.each([
  [
    'INSERT INTO ^lake.dml.hintd VALUES (1)',
    'TABLE_NOT_FOUND',
    'table lake.dml.hintd does not exist; did you mean lake.dml.hinted?',
  ],
  ['INSERT OVERWRITE ^lake.dml.hintd SELECT 1', 'TABLE_NOT_FOUND', 'did you mean lake.dml.hinted?'],
  ['UPDATE ^lake.dmll.hinted SET price = 1', 'SCHEMA_NOT_FOUND', 'did you mean lake.dml?'],
  ['DELETE FROM ^lake.dml.hintd', 'TABLE_NOT_FOUND', 'did you mean lake.dml.hinted?'],
  [
    'MERGE INTO ^lak.dml.hinted USING (SELECT 1 AS a) AS s ON true WHEN MATCHED THEN DELETE',
    'CATALOG_NOT_FOUND',
    'did you mean lake?',
  ],
  [
    'INSERT INTO lake.dml.hinted (^prise) VALUES (1)',
    'COLUMN_NOT_FOUND',
    'the table has no column prise; did you mean price?',
  ],
  ['INSERT INTO lake.dml.hinted BY NAME ^SELECT 1 AS prise', 'COLUMN_NOT_FOUND', 'did you mean price?'],
  ['UPDATE lake.dml.hinted SET price = 1, ^prise = 2', 'COLUMN_NOT_FOUND', 'did you mean price?'],
  [
    'MERGE INTO lake.dml.hinted AS h USING (SELECT 1 AS a) AS s ON true WHEN MATCHED THEN UPDATE SET ^prise = 1',
    'COLUMN_NOT_FOUND',
    'did you mean price?',
  ],
])('%s: the error names what is near, and its place', async (marked, error, message) => {
  await cluster.sql(`CREATE TABLE IF NOT EXISTS ${SCHEMA}.hinted (price DOUBLE)`);
  const { body } = await cluster.query(marked.replace('^', ''));
  expect(body).toMatchObject({ error, message: expect.stringContaining(message) as string });
  expect(body).toMatchObject({
    message: expect.stringContaining(`(line 1, column ${marked.indexOf('^') + 1})`) as string,
  });
});

test('more schemas than a page of the catalog has are all shown, and one of the last is found for a hint', async () => {
  const names = Array.from({ length: 1_040 }, (_, i) => `s${String(i).padStart(4, '0')}`);
  const each = async (work: (name: string) => Promise<unknown>): Promise<void> => {
    const left = names.values();
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (const name of left) await work(name);
      }),
    );
  };
  await cluster.sql('CREATE CATALOG dml_many');
  await each((name) => cluster.sql(`CREATE SCHEMA dml_many.${name}`));
  const shown = (await cluster.sql('SHOW SCHEMAS FROM dml_many')).flat();
  expect(shown.filter((name) => name !== 'default')).toEqual(names);
  expect(await cluster.sql("SHOW SCHEMAS FROM dml_many LIKE 's103%'")).toHaveLength(10);
  const { body } = await cluster.query('DELETE FROM dml_many.s103 WHERE true');
  expect(body).toMatchObject({ error: 'SCHEMA_NOT_FOUND' });
  const near = await cluster.query('INSERT INTO dml_many.s1039x.t VALUES (1)');
  expect(near.body).toMatchObject({
    error: 'SCHEMA_NOT_FOUND',
    message: expect.stringContaining('did you mean dml_many.s1039?') as string,
  });
  await each((name) => cluster.sql(`DROP SCHEMA dml_many.${name}`));
  await cluster.sql('DROP CATALOG dml_many');
});

test('values of a request stand wherever an expression may, also in RETURNING', async () => {
  const table = `${SCHEMA}.valued`;
  await cluster.sql(`CREATE TABLE ${table} (id INT, name VARCHAR)`);
  const rows = async (sql: string, parameters: Json): Promise<unknown> =>
    (await cluster.query(sql, { parameters })).body.rows;
  expect(await rows(`INSERT OVERWRITE ${table} VALUES (?, ?), (?, ?) RETURNING id + ?`, [1, 'a', 2, 'b', 10])).toEqual([
    [11],
    [12],
  ]);
  expect(
    await rows(`UPDATE ${table} SET name = $name WHERE id = $id RETURNING name || $name`, { id: 1, name: 'x' }),
  ).toEqual([['xx']]);
  const merge = `MERGE INTO ${table} AS t USING (VALUES ($1, $2)) AS s(id, name) ON t.id = s.id
    WHEN MATCHED THEN UPDATE SET name = s.name WHEN NOT MATCHED THEN INSERT * RETURNING t.id, $3`;
  expect(await rows(merge, [3, 'c', true])).toEqual([[3, true]]);
  expect(
    await rows(`DELETE FROM ${table} USING (VALUES ($1)) AS v(id) WHERE valued.id = v.id RETURNING name`, [3]),
  ).toEqual([['c']]);
});

test('MERGEs that meet insert each row once', async () => {
  const table = `${SCHEMA}.merged`;
  await cluster.sql(`CREATE TABLE ${table} (id INT, n INT)`);
  const merge = `MERGE INTO ${table} AS t USING (SELECT i AS id FROM range(50) AS r(i)) AS s ON t.id = s.id
    WHEN MATCHED THEN UPDATE SET n = t.n + 1 WHEN NOT MATCHED THEN INSERT VALUES (s.id, 1)`;
  const answers = await Promise.all(Array.from({ length: 4 }, () => cluster.sql(merge)));
  expect(answers).toEqual(Array.from({ length: 4 }, () => [[50]]));
  expect(await cluster.sql(`SELECT count(*)::INT, count(DISTINCT id)::INT, min(n), max(n) FROM ${table}`)).toEqual([
    [50, 50, 4, 4],
  ]);
});

describe('PyIceberg reads what is left', () => {
  const inspect = async (
    table: string,
  ): Promise<{ readonly rows: number; readonly mismatches: readonly unknown[] }> => {
    const name = `dml.${table}`;
    const text = await python('cli/load/inspect-tables.py', cluster.catalogUrl, await cluster.token(), 'lake', name);
    return (
      (JSON.parse(text) as Record<string, { rows: number; mismatches: readonly unknown[] }>)[name] ?? {
        rows: -1,
        mismatches: [],
      }
    );
  };

  test.runIf(hasLocalFiles())(
    'of partitions that were written anew',
    async () => {
      const table = `${SCHEMA}.months`;
      await cluster.sql(
        `CREATE TABLE ${table} (id BIGINT, day DATE, name VARCHAR) PARTITIONED BY (month(day), bucket(3, id))`,
      );
      await cluster.sql(
        `INSERT INTO ${table} SELECT i, DATE '2024-01-01' + (i % 366)::INT, 'n' || i FROM range(4000) AS r(i)`,
      );
      expect(await cluster.sql(`DELETE FROM ${table} WHERE month(day) = 2 OR id % 5 = 0`)).toEqual([[1056]]);
      expect(await inspect('months')).toMatchObject({ rows: 2944, mismatches: [] });
      expect(await cluster.sql(`UPDATE ${table} SET day = day + 40, id = id + 1 WHERE month(day) = 1`)).not.toEqual([
        [0],
      ]);
      expect(await inspect('months')).toMatchObject({ rows: 2944, mismatches: [] });
    },
    60_000,
  );
});

describe('PyIceberg reads rows that are marked as deleted', () => {
  test.each([
    ['position delete files', 2, 4],
    ['deletion vectors', 3, 3],
  ])(
    'by %s',
    async (_, version, deleteFiles) => {
      const name = `marked_${version}`;
      const table = `${SCHEMA}.${name}`;
      const properties = `'format-version' = '${version}', 'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read'`;
      await cluster.sql(`CREATE TABLE ${table} (id BIGINT, day DATE) PARTITIONED BY (month(day)) WITH (${properties})`);
      await cluster.sql(`INSERT INTO ${table} SELECT i, DATE '2024-01-01' + (i % 90)::INT FROM range(3000) AS r(i)`);
      expect(await cluster.sql(`DELETE FROM ${table} WHERE id % 3 = 0`)).toEqual([[1000]]);
      expect(await cluster.sql(`UPDATE ${table} SET day = day + 100 WHERE id < 10`)).toEqual([[6]]);
      const files = await cluster.sql(
        `SELECT content::INT, count(*)::INT FROM ${SCHEMA}."${name}$files" GROUP BY 1 ORDER BY 1`,
      );
      expect(files).toEqual([
        [0, 4],
        [1, deleteFiles],
      ]);
      const text = await pythonIn(
        pyIceberg(),
        'test/clients/read_ids.py',
        cluster.catalogUrl,
        await cluster.token(),
        '--namespace',
        'dml',
        name,
      );
      const seen = JSON.parse(text) as Record<string, { readonly ids: readonly number[] }>;
      const ids = Array.from({ length: 3000 }, (_, i) => i).filter((i) => i % 3 !== 0);
      expect(seen[name]?.ids).toEqual(ids.slice(0, 1000));
    },
    60_000,
  );
});

describe('docs/sql.md', () => {
  test.each([
    'INSERT OVERWRITE',
    'DELETE',
    'UPDATE',
    'MERGE',
    'RETURNING',
    'Writes to a branch',
    'Transactions',
    'EXPLAIN of writes',
  ])('its examples of %s run', async (title) => {
    const [, section = ''] = (await readFile(join(projectRoot, 'docs/sql.md'), 'utf8')).split(`\n### ${title}\n`);
    const blocks =
      section
        .split('\n## ')[0]
        ?.split('\n### ')[0]
        ?.matchAll(/^```sql\n([^]*?)^```$/gm) ?? [];
    const statements = [...blocks]
      .flatMap(([, block = '']) => block.split(/;[^\n;]*$/m))
      .filter((sql) => sql.trim() !== '');
    expect(statements.length).toBeGreaterThan(1);
    const session = { sessionId: randomUUID() };
    await cluster.sql('CREATE SCHEMA lake.docs_delete', session);
    await cluster.sql('USE lake.docs_delete', session);
    await cluster.sql(
      "CREATE TABLE orders AS SELECT 1 AS id, DATE '2024-02-29' AS day, 7 AS customer, 1.5 AS price",
      session,
    );
    await cluster.sql('CREATE TABLE prices AS SELECT 1 AS id, 2.5 AS price', session);
    await cluster.sql('CREATE TABLE blocked AS SELECT 7 AS customer', session);
    for (const sql of statements) await cluster.sql(sql, session);
    for (const table of ['orders', 'blocked', 'prices']) await cluster.sql(`DROP TABLE ${table} PURGE`, session);
    await cluster.sql('DROP SCHEMA lake.docs_delete', session);
  });
});
