import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { HeldWrites, WRITE_POINTS } from '#test/support/held-writes.ts';
import {
  checkLoads,
  expectNoOpenWrite,
  expectOnlyReached,
  filesIn,
  folderOf,
  GONE_MS_MAX,
  isAnswered,
  isCompleted,
  settled,
  untilGone,
  type Answered,
} from '#test/support/kill-laws.ts';
import { putStageFile } from '#test/support/stage-files.ts';

/** kill -9 of each process at each step of INSERT and of COPY INTO a table. `change-kills.full.test.ts` has the other writes. */
const TABLE = 'lake.kills.t';

let held: HeldWrites;
let folder: string;

beforeAll(async () => {
  held = await HeldWrites.start();
  await held.cluster.sql('CREATE SCHEMA lake.kills');
}, 120_000);

afterAll(() => held?.[Symbol.asyncDispose]());

beforeEach(async () => {
  await settled(() => held.cluster.sql(`CREATE TABLE ${TABLE} (i BIGINT, t VARCHAR)`));
  folder = await folderOf(held.cluster, TABLE);
});

afterEach(async () => {
  await held.cluster.sql(`DROP TABLE ${TABLE} PURGE`);
});

const dataFiles = (): Promise<readonly string[]> => filesIn(folder, '**/*.parquet');
const one = async (sql: string): Promise<unknown> => (await held.cluster.sql(sql))[0]?.[0];

type Sent = { readonly ids: readonly string[]; readonly answers: readonly Answered[] };

/** Sends statements at once. */
async function send(statements: readonly string[]): Promise<Sent> {
  const sent = statements.map((sql) => ({ sql, queryId: randomUUID() }));
  const answers = sent.map(({ sql, queryId }) => held.cluster.query(sql, { queryId }).catch(() => 'lost' as const));
  return { ids: sent.map(({ queryId }) => queryId), answers: await Promise.all(answers) };
}

/** INSERTs of 10 rows each. */
const insertTen = (statements: number): Promise<Sent> =>
  send(
    Array.from(
      { length: statements },
      (_, i) => `INSERT INTO ${TABLE} SELECT i, md5(i::VARCHAR) FROM range(${10 * i}, ${10 * i + 10}) r(i)`,
    ),
  );

/** A COPY INTO of 10 rows in three files. */
const COPY = `COPY INTO ${TABLE} FROM @lake.kills.box/ten`;
const copyTen = (): Promise<Sent> => send([COPY]);

/** The law of every write: what is acknowledged is there, nothing is half done, and nothing is left of what failed. @returns whether the rows of each are there */
async function checkLaw({ ids, answers }: Sent): Promise<readonly boolean[]> {
  const left = untilGone();
  const made: boolean[] = [];
  for (const [i, id] of ids.entries()) {
    const isMade = await isCompleted(held, id, left);
    const rows = await settled(() =>
      one(`SELECT count(*)::INT FROM ${TABLE} WHERE i >= ${10 * i} AND i < ${10 * i + 10}`),
    );
    expect(rows).toBe(isMade ? 10 : 0);
    made.push(isMade);
    const answer = must(answers[i], 'one answer for one statement');
    if (isAnswered(answer)) expect(answer.status === 200).toBe(isMade);
  }
  await expectOnlyReached(held.cluster, TABLE, left);
  await settled(() => held.cluster.sql(`INSERT INTO ${TABLE} VALUES (-1, 'after')`));
  return made;
}

describe('kill -9 of the coordinator', () => {
  test.each(WRITE_POINTS)('%s', async (point) => {
    const sent = await held.killed(point, 'coordinator', () => insertTen(1));
    expect(sent.answers).toEqual(['lost']);
    const made = await checkLaw(sent);
    if (point === 'before the intent') expect(made).toEqual([false]);
    if (point === 'committed, before the answer') expect(made).toEqual([true]);
  });

  test('committed, before the answers of small INSERTs that share the commit', async () => {
    const release = await held.hold('after the files, before the commit');
    const sending = insertTen(6);
    // One commit is under way, and the others have come to theirs.
    await held.held();
    await expect.poll(async () => (await dataFiles()).length, { timeout: 20_000 }).toBe(6);
    await sleep(1_000);
    const letCommit = await held.holdCommits(
      'NEW.version > OLD.version AND NEW.metadata LIKE \'%"total-records":"60"%\'',
    );
    await release();
    await held.held();
    await held.kill('coordinator');
    await letCommit();
    const sent = await sending;
    expect(await checkLaw(sent)).toEqual(sent.ids.map(() => true));
    expect(sent.answers.filter((answer) => answer === 'lost')).toHaveLength(5);
  });
});

describe('kill -9 of the catalog', () => {
  test.each(WRITE_POINTS)('%s', async (point) => {
    const sent = await held.killed(point, 'catalog', () => insertTen(3));
    const made = await checkLaw(sent);
    if (point === 'committed, before the answer') expect(made).toContain(true);
  });
});

describe('kill -9 of a worker', () => {
  test.each(WRITE_POINTS)('%s: the statement completes', async (point) => {
    const sent = await held.killed(point, 'worker', () => insertTen(1));
    expect(sent.answers).toMatchObject([{ status: 200 }]);
    expect(await checkLaw(sent)).toEqual([true]);
  });
});

describe('Postgres ends every connection', () => {
  test.each(WRITE_POINTS)('%s', async (point) => {
    await checkLaw(await held.killed(point, 'connections', () => insertTen(3)));
  });
});

describe('COPY INTO', () => {
  beforeAll(async () => {
    await held.cluster.sql('CREATE STAGE lake.kills.box');
    for (const [i, from] of [0, 4, 7].entries()) {
      const rows = Array.from({ length: i === 0 ? 4 : 3 }, (_, row) => `${from + row},text\n`);
      await putStageFile(held.cluster, 'lake.kills.box', `ten/${i}.csv`, rows.join(''));
    }
  });

  /** The files count as loaded exactly when their rows are there; the next statement loads them, or leaves them out. */
  async function checkLoadLaw(sent: Sent): Promise<boolean> {
    const isMade = (await checkLaw(sent))[0] === true;
    await checkLoads(held, { copy: COPY, table: TABLE, files: 3, rows: 10 }, isMade);
    return isMade;
  }

  test.each(WRITE_POINTS)('kill -9 of the coordinator: %s', async (point) => {
    const isMade = await checkLoadLaw(await held.killed(point, 'coordinator', copyTen));
    if (point === 'before the intent') expect(isMade).toBe(false);
    if (point === 'committed, before the answer') expect(isMade).toBe(true);
  });

  test.each(WRITE_POINTS)('kill -9 of the catalog: %s', async (point) => {
    await checkLoadLaw(await held.killed(point, 'catalog', copyTen));
  });

  test.each(WRITE_POINTS)('kill -9 of a worker: %s: the statement completes', async (point) => {
    expect(await checkLoadLaw(await held.killed(point, 'worker', copyTen))).toBe(true);
  });

  test.each(WRITE_POINTS)('Postgres ends every connection: %s', async (point) => {
    await checkLoadLaw(await held.killed(point, 'connections', copyTen));
  });

  describe('of large files', () => {
    const [FILES, ROWS] = [4, 400_000];
    const COPY_LARGE = `COPY INTO ${TABLE} FROM @lake.kills.box/large`;

    beforeAll(async () => {
      for (let file = 0; file < FILES; file += 1) {
        const lines = Array.from({ length: ROWS }, (_, i) => `${file * ROWS + i},${'x'.repeat(40)}\n`);
        await putStageFile(held.cluster, 'lake.kills.box', `large/${file}.csv`, lines.join(''));
      }
    });

    /** Ends the worker when its tasks have begun to write. */
    const killWorkerAmid = async (): Promise<void> => {
      await expect.poll(async () => (await dataFiles()).length, { timeout: 20_000, interval: 5 }).toBeGreaterThan(0);
      await held.kill('worker');
    };
    const expectEachOnce = async (): Promise<void> => {
      const rows = await settled(() => one(`SELECT count(*)::INT || ' of ' || count(DISTINCT i)::INT FROM ${TABLE}`));
      expect(rows).toBe(`${FILES * ROWS} of ${FILES * ROWS}`);
    };

    test('kill -9 of a worker while its tasks read the files: each row comes once', async () => {
      const answer = held.cluster.query(COPY_LARGE);
      await killWorkerAmid();
      expect(await answer).toMatchObject({ status: 200 });
      await expectEachOnce();
    });

    test('and of the coordinator when their second attempts are committed: no file of the first is left', async () => {
      const release = await held.hold('committed, before the answer');
      const sent = send([COPY_LARGE]);
      try {
        await killWorkerAmid();
        await held.held();
        await held.kill('coordinator');
      } finally {
        await release();
      }
      const [id] = (await sent).ids;
      expect(await isCompleted(held, must(id, 'one statement'))).toBe(true);
      await expectEachOnce();
      await expectOnlyReached(held.cluster, TABLE);
    });
  });
});

test('kill -9 of one process after the other, beside clients that insert: acknowledged is there, failed is not', async () => {
  const acknowledged = new Set<number>();
  const refused = new Set<number>();
  const ids: string[] = [];
  const over = new AbortController();
  let next = 0;
  const insert = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const i = next++;
      const queryId = randomUUID();
      ids.push(queryId);
      const answer = await held.cluster
        .query(`INSERT INTO ${TABLE} VALUES (${i}, 'x')`, { queryId })
        .catch(() => undefined);
      if (answer?.status === 200) acknowledged.add(i);
      else if (answer !== undefined && answer.body.error !== 'COMMIT_STATE_UNKNOWN') refused.add(i);
      // A process that is down refuses at once.
      if (answer?.status !== 200) await sleep(100);
    }
  };
  const clients = Array.from({ length: 8 }, insert);
  const moreAreAnswered = async (): Promise<void> => {
    const before = acknowledged.size;
    await expect.poll(() => acknowledged.size, { timeout: GONE_MS_MAX }).toBeGreaterThan(before + 10);
  };
  for (const kind of ['catalog', 'worker', 'coordinator', 'catalog', 'coordinator'] as const) {
    await moreAreAnswered();
    await held.kill(kind);
  }
  await moreAreAnswered();
  over.abort();
  await Promise.all(clients);
  const running = `SELECT query_id FROM coordinator.query_history WHERE status IN ('queued', 'running') AND query_id = ANY($1)`;
  await expect.poll(async () => (await held.database.query(running, [ids])).rows, { timeout: GONE_MS_MAX }).toEqual([]);
  const rows = (await settled(() => held.cluster.sql(`SELECT i FROM ${TABLE}`))).map(([i]) => Number(i));
  const there = new Set(rows);
  expect(rows).toHaveLength(there.size);
  expect([...acknowledged].filter((i) => !there.has(i))).toEqual([]);
  expect([...refused].filter((i) => there.has(i))).toEqual([]);
  const completed = `SELECT count(*)::INT AS n FROM coordinator.query_history WHERE status = 'completed' AND query_id = ANY($1)`;
  await expect.poll(async () => (await held.database.query(completed, [ids])).rows[0]?.n).toBe(there.size);
  const read = await settled(() => one(`SELECT count(DISTINCT _file)::INT FROM ${TABLE}`));
  await expect.poll(async () => (await dataFiles()).length, { timeout: GONE_MS_MAX }).toBe(read);
}, 600_000);

test('no write is left open', () => expectNoOpenWrite(held));
