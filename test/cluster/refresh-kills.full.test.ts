import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { QueryAnswer } from '#test/support/cluster.ts';
import { groupQuery, groupsOf } from '#test/support/grouped-view.ts';
import { HeldWrites, WRITE_POINTS, type WritePoint } from '#test/support/held-writes.ts';
import {
  expectNoOpenWrite,
  filesIn,
  folderOf,
  GONE_MS_MAX,
  isAnswered,
  isCompleted,
  settled,
  type Answered,
} from '#test/support/kill-laws.ts';

/**
 * kill -9 of each process in the middle of REFRESH and CREATE MATERIALIZED VIEW, held by a lock in Postgres: a refresh is whole or did not
 * happen, a view is there with its rows or not at all, and nothing is left of what failed.
 */

/** Rows of the table before and after the new ones. */
const [BEFORE, AFTER] = [30, 40];
const QUERY = groupQuery('t');

let held: HeldWrites;
const session = { sessionId: randomUUID() };

beforeAll(async () => {
  held = await HeldWrites.start();
}, 120_000);

afterAll(() => held?.[Symbol.asyncDispose]());

let schema = '';
beforeEach(async () => {
  schema = `kills_${randomUUID().slice(0, 8)}`;
  await settled(() => held.cluster.sql(`CREATE SCHEMA IF NOT EXISTS lake.${schema}`));
  await ok(`CREATE TABLE t AS SELECT i FROM range(${BEFORE}) r(i)`);
});

/** Runs a statement; names without a schema mean that of the test. The session is lost with its coordinator. */
async function ok(sql: string): Promise<QueryAnswer['body']> {
  let answer: QueryAnswer['body'] = {};
  for (const one of [`USE lake.${schema}`, sql]) {
    const { status, body } = await held.cluster.query(one, session);
    if (status !== 200) throw new Error(`${one}: ${body.error} ${body.message}`);
    answer = body;
  }
  return answer;
}

const KINDS = ['coordinator', 'worker', 'catalog', 'connections'] as const;
type Kind = (typeof KINDS)[number];

/** A COMMIT that happens changes tables; one of CREATE only adds some, which no trigger holds. */
const POINTS = WRITE_POINTS.filter((point) => point !== 'committed, before the answer');
const IN_THE_COMMIT = 'in the commit, before the compare-and-swap';

/** Runs a statement that is held at a point, kills a process there, and lets the others go on. @returns whether it happened */
async function killed(sql: string, point: WritePoint, kind: Kind): Promise<boolean> {
  await ok('SELECT 1');
  const queryId = randomUUID();
  const run = (): Promise<Answered> => held.cluster.query(sql, { ...session, queryId }).catch(() => 'lost' as const);
  const answer = await held.killed(point, kind, run);
  const isMade = await isCompleted(held, queryId);
  if (isAnswered(answer)) expect(answer.status === 200).toBe(isMade);
  if (kind === 'worker') expect(isMade).toBe(true);
  if (point === 'before the intent' && kind === 'coordinator') expect(isMade).toBe(false);
  return isMade;
}

const groups = async (): Promise<readonly (readonly unknown[])[]> =>
  must((await ok('SELECT k::INT, n::INT, total::INT FROM v ORDER BY k')).rows, 'rows');

describe.each(KINDS)('%s', (kind) => {
  test.each(POINTS)('REFRESH, %s', async (point) => {
    await ok(`CREATE MATERIALIZED VIEW v AS ${QUERY}`);
    await ok(`INSERT INTO t SELECT i FROM range(${BEFORE}, ${AFTER}) r(i)`);
    const isMade = await killed('REFRESH MATERIALIZED VIEW v', point, kind);
    expect(await settled(groups)).toEqual(groupsOf(isMade ? AFTER : BEFORE));
    // Whatever it was, the next refresh goes on from there.
    const [, way] = must((await ok('EXPLAIN REFRESH MATERIALIZED VIEW v')).rows, 'two lines');
    expect(way?.[0]).toContain(isMade ? 'up to date' : 'incremental: merges');
    await ok('REFRESH MATERIALIZED VIEW v');
    expect(await groups()).toEqual(groupsOf(AFTER));
  });

  test.each(POINTS)('CREATE MATERIALIZED VIEW, %s', async (point) => {
    const isMade = await killed(`CREATE MATERIALIZED VIEW v AS ${QUERY}`, point, kind);
    const tables = must((await settled(() => ok('SHOW TABLES'))).rows, 'rows').flat();
    expect(new Set(tables)).toEqual(new Set(isMade ? ['t', 'v'] : ['t']));
    if (!isMade) {
      await expect.poll(() => dataFiles('v_storage_*'), { timeout: GONE_MS_MAX }).toEqual([]);
      await ok(`CREATE MATERIALIZED VIEW v AS ${QUERY}`);
    }
    expect(await groups()).toEqual(groupsOf(BEFORE));
  });

  test('CREATE OR REPLACE MATERIALIZED VIEW, in the commit', async () => {
    await ok(`CREATE MATERIALIZED VIEW v AS ${QUERY}`);
    const other = 'SELECT i % 10 AS k, 1 AS n, 2 AS total, 3 AS more FROM t WHERE i < 10';
    const isMade = await killed(`CREATE OR REPLACE MATERIALIZED VIEW v AS ${other}`, IN_THE_COMMIT, kind);
    const replaced = groupsOf(10).map(([k]) => [k, 1, 2]);
    expect(await settled(groups)).toEqual(isMade ? replaced : groupsOf(BEFORE));
    expect(must((await ok('SHOW COLUMNS FROM v')).rows, 'rows')).toHaveLength(isMade ? 4 : 3);
  });
});

/** Data files of the tables whose folders begin so, in the schema of the test. */
const dataFiles = async (folders: string): Promise<readonly string[]> =>
  filesIn(dirname(await folderOf(held.cluster, `lake.${schema}.t`)), `${folders}/**/*.parquet`);

test('no write is left open', () => expectNoOpenWrite(held));
