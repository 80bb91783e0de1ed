import { randomUUID } from 'node:crypto';
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD, type Cluster } from '#test/support/cluster.ts';
import { sharedFixture } from '#test/support/resources.ts';
import { parseSlt } from './slt-file.ts';

/** Every statement of the files that DuckDB answers, too: the Postgres wire gives the columns, rows and SQLSTATEs that HTTP gives. */
let cluster: Cluster;
let names: Readonly<Record<string, string>>;
let client: pg.Client;

beforeAll(async () => {
  ({ cluster, names } = await sharedFixture());
});
afterAll(() => client?.end());

async function connected(): Promise<pg.Client> {
  const url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  [url.username, url.password] = [cluster.ready.user, ADMIN_PASSWORD];
  const made = new pg.Client({ connectionString: url.href });
  await made.connect();
  return made;
}

type Answer =
  | { readonly columns: readonly string[]; readonly rows: readonly string[] }
  | { readonly sqlState: unknown };

/** Rows without their order, which a query need not have; doubles to the digits that do not depend on the order of a sum. */
const answerOf = (columns: readonly string[], rows: readonly (readonly unknown[])[]): Answer => ({
  columns,
  rows: rows.map((row) => JSON.stringify(row.map(plain))).toSorted(),
});

/** A value in one form for both: numbers as texts, bytes in base64, intervals in DuckDB's words, JSON as what it means. */
function plain(value: unknown): unknown {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(12)));
  if (Buffer.isBuffer(value)) return value.toString('base64');
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, own]) => [key, plain(own)]));
  if (typeof value !== 'string') return JSON.stringify(value);
  const parsed = /^[{[]/.test(value) ? parsedJson(value) : undefined;
  if (parsed !== undefined) return plain(parsed);
  const text = value.replace(/\bmon(s?)\b/, 'month$1').replace(/^(.*) BC$/, '$1');
  return text.replace(' (BC)', '');
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const TEXT_ARRAY: number = 1009;
/** Types that `pg` makes objects of, of which the texts are compared. */
const TEXTS: ReadonlySet<number> = new Set([3802, 1231, 1082, 1114, 1184, 1186, 1115, 1182, 1185, 1187]);
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    TEXTS.has(oid)
      ? TEXT_ARRAYS.has(oid)
        ? pg.types.getTypeParser(TEXT_ARRAY)
        : String
      : pg.types.getTypeParser(oid, format),
};
const TEXT_ARRAYS: ReadonlySet<number> = new Set([1231, 1115, 1182, 1185, 1187]);

async function overPostgres(sql: string): Promise<Answer> {
  try {
    const { fields, rows, command, rowCount } = await client.query({ text: sql, rowMode: 'array', types });
    // A status and a count are no rows here.
    if (fields.length === 0) return answerOf(command === 'INSERT' ? ['count'] : [], [[rowCount]]);
    return answerOf(
      fields.map(({ name }) => name),
      rows as unknown[][],
    );
  } catch (error) {
    return { sqlState: (error as { readonly code?: string }).code ?? error };
  }
}

async function overHttp(sql: string, sessionId: string): Promise<Answer> {
  const { status, body } = await cluster.query(sql, { sessionId });
  if (status !== 200) return { sqlState: body.sql_state };
  return answerOf(body.columns ?? [], body.rows ?? []);
}

const FILES = ['both', 'statements'].flatMap((folder) => globSync(join(import.meta.dirname, folder, '*.slt')).sort());

for (const file of FILES) {
  test(`${basename(file)}: the same over the Postgres wire as over HTTP`, async () => {
    const sessionId = randomUUID();
    await client?.end();
    client = await connected();
    const records = parseSlt(await readFile(file, 'utf8'), names).filter(
      ({ kind, skip, only }) => kind !== 'file' && !skip.includes('skein') && only !== 'duckdb',
    );
    for (const { kind, sql } of records) {
      if (kind === 'ok') {
        await client.query(sql);
        await cluster.sql(sql, { sessionId });
      } else {
        expect([sql, await overPostgres(sql)]).toEqual([sql, await overHttp(sql, sessionId)]);
      }
    }
    expect(records.length).toBeGreaterThan(0);
  });
}
