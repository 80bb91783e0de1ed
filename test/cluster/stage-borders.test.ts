import { glob, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { Cluster, QueryAnswer } from '#test/support/cluster.ts';
import { hasLocalFiles, sharedCluster } from '#test/support/resources.ts';
import { putStageFile } from '#test/support/stage-files.ts';

/** How long a stage's file is remembered as loaded, who may load and remove it, and that no other tenant reaches it. */
let cluster: Cluster;
let database: Client;
const TABLE = 'lake.stage_borders.t';
const STAGE = 'lake.stage_borders.inbox';

beforeAll(async () => {
  const shared = await sharedCluster();
  cluster = shared.cluster;
  database = new Client(shared.databaseUrl);
  await database.connect();
  await cluster.sql('CREATE SCHEMA lake.stage_borders');
  await cluster.sql(`CREATE STAGE ${STAGE}`);
  await cluster.sql(`CREATE TABLE ${TABLE} (t VARCHAR)`);
});
afterAll(() => database?.end());

const rowsOf = async (condition: string): Promise<unknown> =>
  (await cluster.sql(`SELECT count(*)::INT FROM ${TABLE} WHERE ${condition}`))[0]?.[0];

describe('a file that was loaded', () => {
  /** The age of what the catalog remembers of a file. */
  const ages = async (path: string): Promise<readonly unknown[]> => {
    const sql = `SELECT extract(epoch FROM now() - l.loaded_at)::INT AS age FROM catalog.loaded_file l
      JOIN catalog.iceberg_table t ON t.id = l.table_id JOIN catalog.namespace n ON n.id = t.namespace_id
      WHERE n.path = 'stage_borders' AND l.path = $1`;
    return (await database.query<{ age: number }>(sql, [path])).rows.map(({ age }) => age);
  };
  const makeOlder = (path: string, by: string): Promise<unknown> =>
    database.query('UPDATE catalog.loaded_file SET loaded_at = loaded_at - $2::interval WHERE path = $1', [path, by]);
  const load = (folder: string): Promise<readonly (readonly unknown[])[]> =>
    cluster.sql(`COPY INTO ${TABLE} FROM @${STAGE}/${folder}`);

  test('is remembered for 64 days: then it is loaded again', async () => {
    for (const name of ['young', 'old']) await putStageFile(cluster, STAGE, `ages/${name}.csv`, `${name}\n`);
    expect(await load('ages')).toHaveLength(2);
    await makeOlder('ages/young.csv', '63 days 23 hours');
    await makeOlder('ages/old.csv', '64 days');
    expect((await load('ages')).map(([file, status]) => [file, status])).toEqual([['ages/old.csv', 'LOADED']]);
    expect([await rowsOf("t = 'young'"), await rowsOf("t = 'old'")]).toEqual([1, 2]);
    expect(await ages('ages/old.csv')).toEqual([expect.toSatisfy((age: number) => age < 60)]);
    expect(await load('ages')).toEqual([]);
  });

  test('is forgotten by the catalog itself after 64 days', async () => {
    for (const name of ['kept', 'gone']) await putStageFile(cluster, STAGE, `forgotten/${name}.csv`, `${name}\n`);
    expect(await load('forgotten')).toHaveLength(2);
    await makeOlder('forgotten/kept.csv', '63 days 23 hours');
    await makeOlder('forgotten/gone.csv', '64 days');
    await expect.poll(() => ages('forgotten/gone.csv'), { timeout: 15_000, interval: 100 }).toEqual([]);
    expect(await ages('forgotten/kept.csv')).toHaveLength(1);
  });
});

describe('a principal that may only read', () => {
  const SCOPES = ['catalog:read', 'namespace:read', 'table:read'];
  const files = async (): Promise<unknown> => cluster.sql(`SELECT name FROM (LIST @${STAGE}/purge) ORDER BY name`);

  test('neither loads files nor removes them; one that may write does both', async () => {
    await putStageFile(cluster, STAGE, 'purge/1.csv', 'purged\n');
    const reader = await cluster.token({ scope: SCOPES });
    const copy = `COPY INTO ${TABLE} FROM @${STAGE}/purge`;
    for (const sql of [copy, `${copy} PURGE = TRUE`, `${copy} PURGE = TRUE VALIDATION_MODE = RETURN_1_ROWS`]) {
      expect(await cluster.query(sql, { token: reader }), sql).toMatchObject({
        status: 403,
        body: { error: 'FORBIDDEN', message: expect.stringContaining('table:write') as string },
      });
    }
    expect([await files(), await rowsOf("t = 'purged'")]).toEqual([[['purge/1.csv']], 0]);
    const writer = await cluster.token({ scope: [...SCOPES, 'table:write'] });
    await cluster.sql(`${copy} PURGE = TRUE`, { token: writer });
    expect([await files(), await rowsOf("t = 'purged'")]).toEqual([[], 1]);
  });
});

// `test/bucket/stage-urls.test.ts` has the same for a bucket, where a stage has no place in another's folder.
describe.runIf(hasLocalFiles())('a stage of another tenant', () => {
  const SECRET = 'nobody else may read this';
  /** Names of one length, so that places in a statement are the same. */
  const [RIVAL, ABSENT] = ['rival_stages', 'absent_stage'];
  let rival: string;
  let secretFile: string;
  /** The way from a stage of the first tenant to the other's, and one to a stage that does not exist. */
  let way: string;
  let wayToNobody: string;

  beforeAll(async () => {
    await cluster.cliOk(['admin', 'tenant', 'create', 'stage_rival', '--user', 'stage_rival']);
    await cluster.cliOk(['admin', 'catalog', 'create', RIVAL, '--tenant', 'stage_rival']);
    rival = await cluster.token({ tenant: 'stage_rival', user: 'stage_rival' });
    // The first tenant has a schema of this name, too, without the stage.
    await cluster.sql(`CREATE SCHEMA ${RIVAL}.stage_borders`, { token: rival });
    await cluster.sql(`CREATE STAGE ${RIVAL}.stage_borders.box`, { token: rival });
    const asRival = { queryUrl: cluster.queryUrl, token: () => Promise.resolve(rival) };
    await putStageFile(asRival, `${RIVAL}.stage_borders.box`, 'secret.csv', SECRET);
    await putStageFile(cluster, STAGE, 'own.csv', 'own\n');
    secretFile = await stored('secret.csv');
    way = relative(dirname(await stored('own.csv')), dirname(secretFile));
    wayToNobody = way.replace(/[^/]+$/, (id) => id.replaceAll(/[0-9a-f]/g, '0'));
  });

  /** The path of a file of some stage on the disk. */
  async function stored(name: string): Promise<string> {
    const cwd = cluster.dataDir;
    const found: string[] = [];
    for await (const file of glob(`{warehouse,catalogs/*}/.stages/*/${name}`, { cwd })) found.push(join(cwd, file));
    return must(found[0], 'the file is stored');
  }

  /** Every statement that reaches into a stage. @param of the stage with its `@` */
  const statementsOn = (of: string): readonly string[] => [
    `LIST ${of}`,
    `LIST ${of}/secret.csv`,
    `SELECT * FROM ${of}`,
    `SELECT $1 FROM ${of}/secret.csv`,
    `SELECT * FROM (LIST ${of})`,
    `CREATE TABLE lake.stage_borders.stolen AS SELECT $1 AS t FROM ${of}`,
    `INSERT INTO ${TABLE} SELECT $1 FROM ${of}`,
    `COPY INTO ${TABLE} FROM ${of}`,
    `COPY INTO ${TABLE} FROM ${of} FILES = ('secret.csv')`,
    `COPY INTO ${TABLE} FROM ${of} PURGE = TRUE`,
    `COPY INTO ${TABLE} FROM ${of} VALIDATION_MODE = RETURN_1_ROWS`,
    `COPY INTO ${TABLE} FROM (SELECT $1 FROM ${of}/secret.csv)`,
    `EXPLAIN COPY INTO ${TABLE} FROM ${of}`,
    `COPY INTO ${of} FROM ${TABLE}`,
    `COPY INTO ${of}/secret.csv FROM (SELECT 1 AS i) SINGLE = TRUE OVERWRITE = TRUE`,
    `REMOVE ${of}`,
    `REMOVE ${of}/secret.csv`,
  ];

  /** The answer but for its time. */
  async function answerOf(sql: string, token?: string): Promise<Pick<QueryAnswer, 'status'> & QueryAnswer['body']> {
    const { status, body } = await cluster.query(sql, token === undefined ? {} : { token });
    return { status, error: body.error ?? 'none', message: body.message ?? '', sql_state: body.sql_state ?? '' };
  }

  test.each([
    ['a stage’s own name', 'lake.stage_borders.box', 'lake.stage_borders.bax', '42704'],
    ['a name in quotes', '"lake"."stage_borders"."box"', '"lake"."stage_borders"."bax"', '42704'],
    ['a name in the wrong case', 'LAKE."Stage_Borders".BOX', 'LAKE."Stage_Borders".BAX', '42704'],
    ['its catalog', `${RIVAL}.stage_borders.box`, `${ABSENT}.stage_borders.box`, '3D000'],
    ['its catalog in quotes', `"${RIVAL}"."stage_borders"."box"`, `"${ABSENT}"."stage_borders"."box"`, '3D000'],
  ])('by %s is one that does not exist', async (_, name, absentName, sqlState) => {
    const names = [name, absentName].map((text) => text.replaceAll('"', ''));
    for (const [i, sql] of statementsOn(`@${name}`).entries()) {
      const absent = await answerOf(must(statementsOn(`@${absentName}`)[i], 'as many'));
      expect(absent, sql).toMatchObject({ sql_state: sqlState });
      const [catalog, , last] = must(names[0], 'two names').split('.');
      const [absentCatalog, , absentLast] = must(names[1], 'two names').split('.');
      const message = must(absent.message, 'a text')
        .replaceAll(must(absentCatalog, 'a catalog'), must(catalog, 'a catalog'))
        .replaceAll(must(absentLast, 'a stage'), must(last, 'a stage'));
      expect(await answerOf(sql), sql).toEqual({ ...absent, message });
    }
  });

  test.each([
    ['a path', (to: string) => `@${STAGE}/${to}`],
    ['a path in quotes', (to: string) => `'@${STAGE}/${to}'`],
    ['a path through a folder', (to: string) => `'@${STAGE}/ages/../${to}'`],
    ['a path from the root', (to: string) => `'@${STAGE}//${to}'`],
    ['the folder of uploads', (to: string) => `'@${STAGE}/.uploads/../${to}'`],
    ['its own stage’s path', (to: string) => `'@~/${to}'`],
    ['a name that is a path', (to: string) => `@"${to}"`],
    ['a name behind others that is a path', (to: string) => `@lake.stage_borders."inbox/${to}"`],
    ['a schema that is a path', (to: string) => `@lake."${to}".box`],
  ])('by %s is as far as one that does not exist', async (_, of) => {
    // A text in quotes takes the rest of the path into them.
    const on = (stage: string): readonly string[] =>
      statementsOn(stage).map((sql) => sql.replaceAll("'/secret.csv", "/secret.csv'"));
    for (const [i, sql] of on(of(way)).entries()) {
      const absent = await answerOf(must(on(of(wayToNobody))[i], 'as many'));
      expect(absent.status, sql).toBe(400);
      expect(await answerOf(sql), sql).toEqual({ ...absent, message: absent.message?.replaceAll(wayToNobody, way) });
    }
    for (const path of [`${way}/secret.csv`, `ages/../${way}/secret.csv`]) {
      const files = `COPY INTO ${TABLE} FROM @${STAGE} FILES = ('${path}')`;
      expect(await answerOf(files)).toMatchObject({ status: 400, error: 'INVALID_REQUEST' });
    }
  });

  test('has no signed URL', async () => {
    const ask = async (stage: string, path: string): Promise<unknown> => {
      const headers = { authorization: `Bearer ${await cluster.token()}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ stage, files: [{ path }], method: 'GET' });
      const answer = await fetch(`${cluster.queryUrl}/v1/stages/presign`, { method: 'POST', headers, body });
      return ((await answer.json()) as { readonly error?: string }).error;
    };
    expect(await ask('lake.stage_borders.box', 'secret.csv')).toBe('STAGE_NOT_FOUND');
    expect(await ask(`${RIVAL}.stage_borders.box`, 'secret.csv')).toBe('CATALOG_NOT_FOUND');
    expect(await ask(STAGE, `${way}/secret.csv`)).toBe('INVALID_REQUEST');
  });

  test('is untouched, and its tenant reads it', async () => {
    const of = `@${RIVAL}.stage_borders.box`;
    expect(await cluster.sql(`SELECT $1 FROM ${of}`, { token: rival })).toEqual([[SECRET]]);
    expect(await cluster.sql(`SELECT name FROM (LIST ${of})`, { token: rival })).toEqual([['secret.csv']]);
    expect(await readFile(secretFile, 'utf8')).toBe(SECRET);
    expect(await rowsOf(`t = '${SECRET}'`)).toBe(0);
    expect((await cluster.sql('SHOW TABLES IN lake.stage_borders')).flat()).not.toContain('stolen');
    expect((await cluster.sql('SHOW STAGES IN lake.stage_borders')).map(([name]) => name)).toEqual(['inbox']);
  });
});
