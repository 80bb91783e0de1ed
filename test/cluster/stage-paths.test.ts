import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { quoteLiteral } from '#shared/sql/quote.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { putStageFile } from '#test/support/stage-files.ts';
import { UploadClient } from '#test/support/upload-client.ts';

/** Files of stages with names that URLs, patterns, SQL or DuckDB would take for something else. */
let cluster: Cluster;
let dir: string;
const STAGE = 'lake.stage_paths.inbox';
/** Each is one file; beside it lies another one, which a pattern would find in its place. */
const ODD = [
  '100%.csv',
  '2024-01-01T00:00.csv',
  'year=2024/month=01/a b.csv',
  '%2e%2e/%2Fetc%25.csv',
  'what?.csv',
  '*.csv',
  '[ab]!.csv',
  '{a,b}.csv',
  '**/a#b&c=d+e.csv',
  `it's "quoted" \`$(x)\`;|<>~.csv`,
  '.hidden/....csv',
  ' space /é.csv ',
  'e\u0301👩\u200d💻.csv',
  'file:x.csv',
  'http://x.csv'.replace('//', '/'),
  "--x'/*y*/.csv",
  'a.uploads/.uploads.csv',
];

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'skein-paths-'));
  ({ cluster } = await sharedCluster());
  await cluster.sql('CREATE SCHEMA lake.stage_paths');
  await cluster.sql(`CREATE STAGE ${STAGE}`);
  await cluster.sql('CREATE TABLE lake.stage_paths.t (t VARCHAR)');
  for (const [i, path] of ODD.entries()) await putStageFile(cluster, STAGE, `odd/${path}`, `${i}\n`);
  for (const path of ['a.csv', 'b!.csv', 'whatx.csv', '100.csv'])
    await putStageFile(cluster, STAGE, `odd/${path}`, 'x\n');
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const of = (path: string): string => quoteLiteral(`@${STAGE}/${path}`);

async function bytesOf(path: string): Promise<readonly unknown[]> {
  const headers = { authorization: `Bearer ${await cluster.token()}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ stage: STAGE, files: [{ path }], method: 'GET' });
  const answer = await fetch(`${cluster.queryUrl}/v1/stages/presign`, { method: 'POST', headers, body });
  const { urls } = (await answer.json()) as { readonly urls: readonly [{ readonly url: string }] };
  const got = await fetch(urls[0].url);
  return [await got.text(), got.headers.get('content-disposition')];
}

test.each(ODD.map((path, i) => [path, i] as const))('%j is that file, and no other', async (path, i) => {
  const file = `odd/${path}`;
  const name = encodeURIComponent(basename(path)).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  expect(await bytesOf(file)).toEqual([`${i}\n`, `attachment; filename*=UTF-8''${name}`]);
  expect(await cluster.sql(`SELECT name, size FROM (LIST ${of(file)})`)).toEqual([[file, `${i}\n`.length]]);
  expect(await cluster.sql(`SELECT $1 FROM ${of(file)}`)).toEqual([[String(i)]]);
});

test('all are listed and loaded, each once, and FILES and PATTERN find them', async () => {
  const copy = `COPY INTO lake.stage_paths.t FROM @${STAGE}/odd`;
  const loaded = async (more: string): Promise<unknown> =>
    (await cluster.sql(`${copy} ${more} FORCE = TRUE`)).map(([file, status]) => [file, status]);
  const files = ODD.map((path) => [`odd/${path}`, 'LOADED']).toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1));
  expect(await loaded(`FILES = (${ODD.map(quoteLiteral).join(', ')})`)).toEqual(files);
  expect(await cluster.sql('SELECT count(*)::INT, count(DISTINCT t)::INT FROM lake.stage_paths.t')).toEqual([
    [ODD.length, ODD.length],
  ]);
  expect(await loaded(String.raw`PATTERN = 'odd/(?:\*|\[ab\]!)\.csv'`)).toHaveLength(2);
  expect((await cluster.sql(`LIST @${STAGE}/odd`)).map(([name]) => name)).toEqual(
    expect.arrayContaining(files.map(([path]) => path)),
  );
  expect(await cluster.sql(`SELECT $1 FROM @${STAGE}/odd/year=2024/month=01`)).toEqual([[String(2)]]);
});

test('without quotes, as far as the grammar has no other use of a sign', async () => {
  for (const path of ['100%.csv', '2024-01-01T00:00.csv', 'year=2024/month=01', '[ab]!.csv']) {
    expect(await cluster.sql(`SELECT count(*)::INT FROM @${STAGE}/odd/${path}`), path).toEqual([[1]]);
  }
});

test('files that are made, sent in parts, replaced and removed', async () => {
  const bytes = Buffer.from('1\n'.repeat(3_000_000));
  // A bucket takes no smaller ones.
  const parts = new UploadClient(cluster, STAGE, 5 * 2 ** 20);
  // Those that a URL, a pattern and a shell would read in other ways.
  const some = ODD.filter((path) => /[%*:]/.test(path));
  for (const path of some) {
    const made = `made/${path}`;
    await cluster.sql(`COPY INTO ${of(made)} FROM (SELECT 7 AS i) SINGLE = TRUE FILE_FORMAT = (COMPRESSION = NONE)`);
    expect(await cluster.sql(`SELECT $1 FROM ${of(made)}`), path).toEqual([['7']]);
  }
  expect(await parts.upload('made/100%.csv', bytes)).toBe(true);
  expect(await cluster.sql(`SELECT count(*)::INT FROM ${of('made/100%.csv')}`)).toEqual([[3_000_000]]);
  await cluster.sql(`COPY INTO ${of('made/x=1/50%')} FROM (SELECT 7 AS i) FILE_FORMAT = (TYPE = JSON)`);
  expect(await cluster.sql(`SELECT name FROM (LIST ${of('made/x=1')})`)).toEqual([['made/x=1/50%_0_0_0.json.gz']]);
  for (const path of some) expect(await cluster.sql(`REMOVE ${of(`made/${path}`)}`), path).toEqual([[1]]);
  expect(await cluster.sql(`SELECT name FROM (LIST @${STAGE}/made)`)).toEqual([['made/x=1/50%_0_0_0.json.gz']]);
});

test('Parquet and JSON, whose errors name the file', async () => {
  const path = join(dir, 'one.parquet');
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  await connection.run(`COPY (SELECT 1 AS i) TO '${path}' (FORMAT parquet)`);
  connection.closeSync();
  const name = `kinds/i=2/a"b[*]?'%`;
  await putStageFile(cluster, STAGE, `${name}.parquet`, readFileSync(path));
  await putStageFile(cluster, STAGE, `${name}.json`, '{"i": 1}\n{"i": \n');
  expect(await cluster.sql(`SELECT * FROM ${of(`${name}.parquet`)} (FILE_FORMAT => (TYPE = PARQUET))`)).toEqual([[1]]);
  await expect(cluster.sql(`SELECT i + 0 FROM ${of(`${name}.json`)} (FILE_FORMAT => (TYPE = JSON))`)).rejects.toThrow(
    `the file a"b[*]?'%.json of the stage, near line `,
  );
});

test('skein put and get', async () => {
  const names = ['100%.csv', '2024-01-01T00:00.csv', 'a b?[c]*#.csv'];
  for (const name of names) writeFileSync(join(dir, name), name);
  const local = names.map((name) => join(dir, name));
  await cluster.cliOk(['put', ...local, `@${STAGE}/cli/y=1/`]);
  expect((await cluster.sql(`LIST @${STAGE}/cli`)).map(([name]) => name)).toEqual(
    names.map((name) => `cli/y=1/${name}`).toSorted(),
  );
  const to = join(dir, 'got');
  await cluster.cliOk(['get', `@${STAGE}/cli/y=1`, to]);
  for (const name of names) expect(readFileSync(join(to, name), 'utf8')).toBe(name);
});

describe('a path that no file has', () => {
  test.each([
    ['a\\b', 'the path "a\\b" of a stage has the character \\ (U+005C), which is not allowed'],
    ['a\tb', 'the path "a<U+0009>b" of a stage has the character U+0009, which is not allowed'],
    ['a/../b', 'the path "a/../b" of a stage has the name ..'],
  ])('%j: the error names it and what is wrong', async (path, message) => {
    await expect(cluster.sql(`SELECT * FROM ${of(path)}`)).rejects.toThrow(message);
    await expect(
      cluster.sql(`COPY INTO lake.stage_paths.t FROM @${STAGE} FILES = (${quoteLiteral(path)})`),
    ).rejects.toThrow(message);
    const headers = { authorization: `Bearer ${await cluster.token()}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ stage: STAGE, files: [{ path }] });
    const answer = await fetch(`${cluster.queryUrl}/v1/stages/presign`, { method: 'POST', headers, body });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      expect.objectContaining({ error: 'INVALID_REQUEST', message }),
    ]);
  });
});
