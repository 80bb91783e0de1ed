import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { HeldWrites, WRITE_POINTS, type WritePoint } from '#test/support/held-writes.ts';
import type { Killed } from '#test/support/kill-service.ts';
import {
  expectNoOpenWrite,
  expectOnlyReached,
  isAnswered,
  isCompleted,
  settled,
  untilGone,
  type Answered,
} from '#test/support/kill-laws.ts';

/** kill -9 of each process at each step of UPDATE, DELETE and MERGE, and of the COMMIT of a transaction of all three. */
let held: HeldWrites;

beforeAll(async () => {
  held = await HeldWrites.start();
  await held.cluster.sql('CREATE SCHEMA lake.kills');
}, 120_000);

afterAll(() => held?.[Symbol.asyncDispose]());

/** A statement on a table of its own, whose rows are counted before and after: all, those that are new, and the sum of `i`. */
const CHANGES = {
  updated: {
    properties: `'format-version' = '2', 'write.update.mode' = 'merge-on-read'`,
    sql: `UPDATE lake.kills.updated SET t = 'new' WHERE i % 3 = 0`,
    after: [90, 30, 4005],
    count: 30,
  },
  deleted: {
    properties: `'format-version' = '3', 'write.delete.mode' = 'merge-on-read'`,
    sql: 'DELETE FROM lake.kills.deleted WHERE i % 3 = 0',
    after: [60, 0, 2700],
    count: 30,
  },
  merged: {
    properties: `'format-version' = '3', 'write.merge.mode' = 'copy-on-write'`,
    sql: `MERGE INTO lake.kills.merged AS m USING (SELECT i FROM range(0, 120, 3) r(i)) AS s ON m.i = s.i
      WHEN MATCHED AND s.i < 30 THEN DELETE
      WHEN MATCHED THEN UPDATE SET t = 'new'
      WHEN NOT MATCHED THEN INSERT VALUES (s.i, 'new')`,
    after: [90, 30, 4905],
    count: 40,
  },
} as const;
type Changed = keyof typeof CHANGES;
const CHANGED = Object.keys(CHANGES) as readonly Changed[];
const BEFORE = [90, 0, 4005];

const tableOf = (name: Changed): string => `lake.kills.${name}`;
const forAll = <T>(work: (name: Changed) => Promise<T>): Promise<readonly T[]> => Promise.all(CHANGED.map(work));

beforeEach(() =>
  forAll(async (name) => {
    const create = `CREATE TABLE ${tableOf(name)} (i BIGINT, t VARCHAR) WITH (${CHANGES[name].properties})`;
    await settled(() => held.cluster.sql(create));
    for (const from of [0, 30, 60]) {
      await held.cluster.sql(`INSERT INTO ${tableOf(name)} SELECT i, 'old' FROM range(${from}, ${from + 30}) r(i)`);
    }
  }),
);

afterEach(() => forAll((name) => held.cluster.sql(`DROP TABLE ${tableOf(name)} PURGE`)));

const stateOf = async (name: Changed): Promise<readonly number[]> => {
  const state = `SELECT count(*)::INT, (count(*) FILTER (WHERE t = 'new'))::INT, sum(i)::INT FROM ${tableOf(name)}`;
  const [row] = await settled(() => held.cluster.sql(state));
  return must(row, 'one row').map(Number);
};

/** The tables have the files of their snapshots and no other. */
const checkFiles = (left: ReturnType<typeof untilGone>): Promise<unknown> =>
  forAll((name) => expectOnlyReached(held.cluster, tableOf(name), left));

/** Runs the three statements at once, held at a point, kills a process there, and lets the others go on. @returns which happened */
async function killedAll(point: WritePoint, kind: Killed): Promise<readonly boolean[]> {
  const ids = CHANGED.map(() => randomUUID());
  const send = (): Promise<readonly Answered[]> =>
    Promise.all(
      CHANGED.map((name, i) =>
        held.cluster.query(CHANGES[name].sql, { queryId: must(ids[i], 'an id') }).catch(() => 'lost' as const),
      ),
    );
  const answers = await held.killed(point, kind, send, CHANGED.length);
  const left = untilGone();
  const made: boolean[] = [];
  for (const [i, name] of CHANGED.entries()) {
    const isMade = await isCompleted(held, must(ids[i], 'an id'), left);
    const { after, count } = CHANGES[name];
    expect(await stateOf(name)).toEqual(isMade ? after : BEFORE);
    made.push(isMade);
    const answer = must(answers[i], 'one answer for one statement');
    if (!isAnswered(answer)) continue;
    expect(answer.status === 200).toBe(isMade);
    if (isMade) expect(Number(answer.body.rows?.[0]?.[0])).toBe(count);
  }
  await checkFiles(left);
  await settled(() => held.cluster.sql(`UPDATE lake.kills.updated SET t = 'later' WHERE i = 1`));
  return made;
}

test.each(WRITE_POINTS)('kill -9 of the coordinator: %s', async (point) => {
  const made = await killedAll(point, 'coordinator');
  if (point === 'before the intent') expect(made).toEqual([false, false, false]);
  if (point === 'committed, before the answer') expect(made).toEqual([true, true, true]);
});

test.each(WRITE_POINTS)('kill -9 of the catalog: %s', async (point) => {
  await killedAll(point, 'catalog');
});

test.each(WRITE_POINTS)('kill -9 of a worker: %s: the statements complete', async (point) => {
  expect(await killedAll(point, 'worker')).toEqual([true, true, true]);
});

/** Runs the three statements in a transaction of a session. */
async function begin(): Promise<(sql: string, queryId?: string) => Promise<Answered>> {
  const sessionId = randomUUID();
  const inside = (sql: string, queryId: string = randomUUID()): Promise<Answered> =>
    held.cluster.query(sql, { sessionId, queryId }).catch(() => 'lost' as const);
  for (const sql of ['BEGIN', ...CHANGED.map((name) => CHANGES[name].sql)]) {
    expect(await inside(sql)).toMatchObject({ status: 200 });
  }
  return inside;
}

/** Runs a COMMIT of all three, held at a point, kills a process there, and lets it go on. @returns whether it happened */
async function killedTransaction(point: WritePoint, kind: Killed): Promise<boolean> {
  const inside = await begin();
  const id = randomUUID();
  const answer = await held.killed(point, kind, () => inside('COMMIT', id));
  const left = untilGone();
  const isMade = await isCompleted(held, id, left);
  expect(await forAll(stateOf)).toEqual(CHANGED.map((name) => (isMade ? CHANGES[name].after : BEFORE)));
  if (answer === 'lost') {
    // A statement that the client meant for the transaction must not be committed by itself.
    expect(await inside('DELETE FROM lake.kills.updated')).toMatchObject({ body: { sql_state: '25P02' } });
    expect(await inside('ROLLBACK')).toMatchObject({ status: 200 });
  } else if (isAnswered(answer)) expect(answer.status === 200).toBe(isMade);
  await checkFiles(left);
  await settled(() => held.cluster.sql(`UPDATE lake.kills.updated SET t = 'later' WHERE i = 1`));
  return isMade;
}

describe.each(['coordinator', 'catalog', 'connections'] as const)(
  'COMMIT of all three in a transaction: %s',
  (kind) => {
    test.each(WRITE_POINTS)('%s', async (point) => {
      const isMade = await killedTransaction(point, kind);
      if (kind !== 'coordinator') return;
      if (point === 'before the intent') expect(isMade).toBe(false);
      if (point === 'committed, before the answer') expect(isMade).toBe(true);
    });
  },
);

test('kill -9 of the coordinator before the COMMIT of a transaction: nothing of it is left', async () => {
  const inside = await begin();
  await held.kill('coordinator');
  const left = untilGone();
  expect(await forAll(stateOf)).toEqual(CHANGED.map(() => BEFORE));
  expect(await inside('COMMIT')).toMatchObject({ body: { sql_state: '25P02' } });
  expect(await inside('ROLLBACK')).toMatchObject({ status: 200 });
  await checkFiles(left);
});

test('no write is left open', () => expectNoOpenWrite(held));
