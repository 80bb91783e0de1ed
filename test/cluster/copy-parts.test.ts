import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { StartedCluster } from '#test/support/cluster.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { putStageFile } from '#test/support/stage-files.ts';

/** COPY INTO of one large file, parts of which are tasks of two workers that have one core each. */
let cluster: StartedCluster;
const ROWS = 500_000;
const BOX = '@lake.parts.box';
/** A file of at least two parts of the smallest size. */
const BYTES_MIN = 40 * 2 ** 20;

/** Rows of 110 bytes and more, some with an end of a line within. */
const SOURCE = `SELECT i AS id, CASE WHEN i % 3 = 0 THEN 'a "b"' || chr(10) || 'c, d' ELSE md5(i::VARCHAR) END AS m,
  md5((i + 1)::VARCHAR) || md5((-i - 1)::VARCHAR) || md5((-i - 2)::VARCHAR) AS t FROM range(${ROWS}) r(i)`;
const PLAIN = SOURCE.replace("'a \"b\"' || chr(10) || 'c, d'", "'plain'");

const FORMATS = {
  'quoted.csv': { format: 'TYPE = CSV PARSE_HEADER = TRUE', source: SOURCE },
  'lines.csv': { format: 'TYPE = CSV FIELD_OPTIONALLY_ENCLOSED_BY = NONE SKIP_HEADER = 1', source: PLAIN },
  'data.json': { format: 'TYPE = JSON', source: SOURCE },
  'data.parquet': { format: 'TYPE = PARQUET', source: SOURCE },
} as const;

beforeAll(async () => {
  cluster = await startOwnCluster({ workers: 2, args: ['--worker-cores', '1'] });
  await cluster.sql('CREATE SCHEMA lake.parts');
  await cluster.sql('CREATE STAGE lake.parts.box');
});
afterAll(() => cluster?.stop());

beforeEach(async () => {
  await cluster.sql('CREATE OR REPLACE TABLE lake.parts.t (id BIGINT, m VARCHAR, t VARCHAR)');
});

type Answer = { readonly answer: readonly unknown[] | undefined; readonly workers: readonly string[] };

/** Runs a COPY INTO. @returns its row for the file, and the workers of its tasks that wrote rows */
async function copy(file: string, options: string): Promise<Answer> {
  const queryId = crypto.randomUUID();
  const { body } = await cluster.query(`COPY INTO lake.parts.t FROM ${BOX}/${file} ${options}`, { queryId });
  if (body.error !== undefined) throw new Error(`${body.error}: ${body.message}`);
  const authorization = `Bearer ${await cluster.token()}`;
  const answer = await fetch(`${cluster.queryUrl}/api/query-history/${queryId}/profile`, {
    headers: { authorization },
  });
  const { queries } = (await answer.json()) as Profile;
  const tasks = queries.at(-1)?.stages.flatMap((stage) => stage.tasks) ?? [];
  return { answer: body.rows?.[0], workers: tasks.map(({ worker }) => worker) };
}
type Profile = {
  readonly queries: readonly {
    readonly stages: readonly { readonly tasks: readonly { readonly worker: string }[] }[];
  }[];
};

describe.each(Object.entries(FORMATS))('%s', (file, { format, source }) => {
  test('has its rows once, by tasks of both workers', async () => {
    const unload = format.replace(/ (PARSE_HEADER = TRUE|SKIP_HEADER = 1)/, '');
    const written = `SINGLE = TRUE${file.endsWith('.csv') ? ' HEADER = TRUE' : ''}`;
    await cluster.sql(`COPY INTO ${BOX}/${file} FROM (${source}) FILE_FORMAT = (${unload}) ${written}`);
    const [[size] = []] = await cluster.sql(`SELECT size FROM (LIST ${BOX}/${file})`);
    expect(Number(size)).toBeGreaterThan(BYTES_MIN);
    const { answer, workers } = await copy(file, `FILE_FORMAT = (${format})`);
    expect(answer).toEqual([file, 'LOADED', ROWS, ROWS, 0, null, null]);
    expect(workers.length).toBeGreaterThan(1);
    expect(new Set(workers).size).toBe(2);
    for (const [one, other] of [
      [`SELECT * FROM lake.parts.t`, source],
      [source, `SELECT * FROM lake.parts.t`],
    ]) {
      expect(await cluster.sql(`SELECT count(*)::INT FROM ((${one}) EXCEPT ALL (${other}))`)).toEqual([[0]]);
    }
    const again = await cluster.sql(`COPY INTO lake.parts.t FROM ${BOX}/${file} FILE_FORMAT = (${format})`);
    expect(again).toEqual([]);
  });
});

describe('a wrong record behind the first part', () => {
  const BAD = 400_000;
  const LINES = 500_000;
  const text = (line: (i: number) => string, bad: string): string =>
    Array.from({ length: LINES }, (_, i) => (i === BAD ? bad : line(i))).join('');
  const quoted = (i: number): string => `${i},"a\n""${i}""",${'x'.repeat(80)}\n`;
  const json = (i: number): string => `{"id": ${i}, "m": "a", "t": "${'x'.repeat(80)}"}\n`;
  /** Line of the record of a number, from 0. */
  const FILES = {
    'bad.csv': { body: text(quoted, 'no,"a\n",b\n'), format: 'TYPE = CSV', line: 2 * BAD + 1 },
    'bad.json': { body: text(json, '{"id": "no"}\n'), format: 'TYPE = JSON', line: BAD + 1 },
  } as const;

  test.each(Object.entries(FILES))('%s: it is named by its line in the file', async (file, { body, format, line }) => {
    await putStageFile(cluster, 'lake.parts.box', file, body);
    const { answer, workers } = await copy(file, `FILE_FORMAT = (${format}) ON_ERROR = CONTINUE`);
    expect(answer).toEqual([
      file,
      'PARTIALLY_LOADED',
      LINES,
      LINES - 1,
      1,
      expect.stringContaining('column id: '),
      line,
    ]);
    expect(new Set(workers).size).toBe(2);
    const aborted = await cluster.query(
      `COPY INTO lake.parts.t FROM ${BOX}/${file} FILE_FORMAT = (${format}) FORCE = TRUE`,
    );
    expect(aborted.body).toMatchObject({ sql_state: '22P02' });
    expect(aborted.body.message).toContain(`${file} of the stage, line ${line}`);
    const skipped = await copy(file, `FILE_FORMAT = (${format}) ON_ERROR = SKIP_FILE FORCE = TRUE`);
    expect(skipped.answer?.slice(1, 5)).toEqual(['LOAD_FAILED', LINES, 0, 1]);
    expect(skipped.workers).toHaveLength(1);
  });

  test('a file that is no Parquet as a whole is one error', async () => {
    await putStageFile(cluster, 'lake.parts.box', 'bad.parquet', 'x'.repeat(BYTES_MIN));
    const { answer } = await copy('bad.parquet', 'FILE_FORMAT = (TYPE = PARQUET) ON_ERROR = CONTINUE');
    expect(answer?.slice(1, 5)).toEqual(['LOAD_FAILED', 0, 0, 1]);
  });
});
