import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { putStageFile } from '#test/support/stage-files.ts';

/** Reads of one large file of a stage, by tasks of two workers that have a part of it each. */
let cluster: Cluster;
const session = { sessionId: randomUUID() };
const ROWS = 300_000;
const BOX = '@lake.splits.box';

const LINES = "TYPE = CSV FIELD_OPTIONALLY_ENCLOSED_BY = NONE FIELD_DELIMITER = '|'";
const FORMATS = {
  'data.parquet': 'TYPE = PARQUET',
  'data.json': 'TYPE = JSON',
  'data.csv': `${LINES} PARSE_HEADER = TRUE`,
} as const;

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.sql('CREATE SCHEMA lake.splits');
  await cluster.sql('CREATE STAGE lake.splits.box');
  const rows = `SELECT i AS id, md5(i::VARCHAR) AS m, i % 1000 AS k FROM range(${ROWS}) r(i)`;
  await cluster.sql(`CREATE TABLE lake.splits.t AS ${rows}`);
  for (const [name, format] of Object.entries(FORMATS)) {
    const options = `SINGLE = TRUE${name.endsWith('.csv') ? ' HEADER = TRUE' : ''}`;
    const written = format.replace(' PARSE_HEADER = TRUE', '');
    await cluster.sql(`COPY INTO ${BOX}/${name} FROM (${rows}) FILE_FORMAT = (${written}) ${options}`);
  }
  await cluster.sql("SET skein.distribution = 'force'", session);
});

/** The numbers of tasks of the stages that read a file, by EXPLAIN ANALYZE. */
async function tasksOf(sql: string): Promise<readonly number[]> {
  const [[text] = []] = await cluster.sql(`EXPLAIN ANALYZE (FORMAT JSON) ${sql}`, session);
  return [...JSON.stringify(JSON.parse(text as string)).matchAll(/"tasks":(\d+)/g)].map(([, tasks]) => Number(tasks));
}

describe.each(Object.entries(FORMATS))('%s', (name, format) => {
  const of = `${BOX}/${name} (FILE_FORMAT => (${format}))`;

  test('has its rows once, whoever reads which part', async () => {
    const sums = `SELECT count(*), count(DISTINCT id::INT), sum(id::INT)::VARCHAR, count(DISTINCT m), max(k::INT) FROM ${of}`;
    const sum = String((ROWS * (ROWS - 1)) / 2);
    expect(await cluster.sql(sums, session)).toEqual([[ROWS, ROWS, sum, ROWS, 999]]);
    const rows = `(SELECT id::INT, m, k::INT FROM ${of} EXCEPT ALL SELECT id::INT, m, k::INT FROM lake.splits.t)`;
    expect(await cluster.sql(`SELECT count(*) FROM ${rows}`, session)).toEqual([[0]]);
    expect(Math.max(...(await tasksOf(`SELECT sum(k::INT) FROM ${of}`)))).toBe(2);
  });
});

test('CSV whose fields may hold the end of a line is read by one task', async () => {
  await cluster.sql(`COPY INTO ${BOX}/quoted.csv FROM lake.splits.t SINGLE = TRUE`);
  expect(Math.max(...(await tasksOf(`SELECT sum($1::INT) FROM ${BOX}/quoted.csv`)))).toBe(1);
  expect(await cluster.sql(`SELECT count(*) FROM ${BOX}/quoted.csv`, session)).toEqual([[ROWS]]);
});

test('the ends of lines within quotes are not those of the records', async () => {
  await putStageFile(cluster, 'lake.splits.box', 'ends.csv', '"a\r\nb",1\n"c",2\n');
  await putStageFile(cluster, 'lake.splits.box', 'other.csv', '"d\ne",3\r\nf,4\r\n');
  const rows = (file: string) => cluster.sql(`SELECT $1, $2 FROM ${BOX}/${file}.csv ORDER BY $2`);
  expect(await rows('ends')).toEqual([
    ['a\r\nb', '1'],
    ['c', '2'],
  ]);
  expect(await rows('other')).toEqual([
    ['d\ne', '3'],
    ['f', '4'],
  ]);
});

describe('a wrong line behind the first part', () => {
  const good = (i: number): string => `${i}|${'x'.repeat(100)}\n`;
  const json = (i: number): string => `{"id": ${i}, "x": "${'x'.repeat(100)}"}\n`;
  const file = (line: (i: number) => string, bad: string): string =>
    Array.from({ length: 160_000 }, (_, i) => (i === 140_000 ? bad : line(i))).join('');

  test('of CSV is named by its number in the file', async () => {
    await putStageFile(cluster, 'lake.splits.box', 'bad.csv', file(good, '1|2|3\n'));
    const { body } = await cluster.query(`SELECT max($1) FROM ${BOX}/bad.csv (FILE_FORMAT => (${LINES}))`, session);
    expect(body).toMatchObject({ error: 'INVALID_INPUT_FILE' });
    expect(body.message).toContain('the file bad.csv of the stage, record 140001: Expected Number of Columns: 2');
  });

  test('of JSON, too', async () => {
    await putStageFile(cluster, 'lake.splits.box', 'bad.json', file(json, '{"id": }\n'));
    const { body } = await cluster.query(`SELECT max(id) FROM ${BOX}/bad.json (FILE_FORMAT => (TYPE = JSON))`, session);
    expect(body).toMatchObject({ error: 'INVALID_INPUT_FILE' });
    expect(body.message).toMatch(/the file bad\.json of the stage, near line 14000[12]:/);
  });
});
