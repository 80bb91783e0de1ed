import { randomUUID } from 'node:crypto';
import { glob } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { QueryAnswer, StartedCluster } from '#test/support/cluster.ts';
import { putStageFile } from '#test/support/stage-files.ts';
import { createTestDatabase, startOwnCluster, type TestDatabase } from '#test/support/resources.ts';
import { killService, type Killed } from '#test/support/kill-service.ts';

/**
 * kill -9 of each process at each step of a write. Locks in Postgres hold the write where it is to be killed:
 * ```
 *   intent ─▶ data files, manifests ─▶ the catalog's transaction: key, compare-and-swap, metadata file, COMMIT ─▶ answer
 *   ▲                                                              ▲    ▲                              ▲
 *   before the intent                      after the files and before the commit    in it    committed, not answered
 * ```
 */

/** Time from the death of a process until nothing is left of what it was writing, and its history record has ended. */
const GONE_MS_MAX = 60_000;
/** Of the advisory lock that a commit waits for. */
const LOCK = 15;
const TABLE = 'lake.kills.t';

/** The cluster's own database, whose locks hold its writes. */
let database: TestDatabase;
let cluster: StartedCluster;
let client: Client;
let holder: Client;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase();
  cluster = await startOwnCluster({ env: { DATABASE_URL: database.url } });
  [client, holder] = [new Client(database.url), new Client(database.url)];
  await client.connect();
  await holder.connect();
  await client.query(`CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN PERFORM pg_advisory_xact_lock(${LOCK}); RETURN NULL; END'`);
  await ok('CREATE SCHEMA lake.kills');
}, 120_000);

afterAll(async () => {
  await client?.end();
  await holder?.end();
  await cluster?.stop();
  await database?.[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await expect.poll(() => ok(`CREATE TABLE ${TABLE} (i BIGINT, t VARCHAR)`), { timeout: GONE_MS_MAX }).toBeDefined();
  folder = await folderOf('t');
});

afterEach(async () => {
  await ok(`DROP TABLE ${TABLE} PURGE`);
});

async function ok(sql: string): Promise<QueryAnswer['body']> {
  const { status, body } = await cluster.query(sql);
  if (status !== 200) throw new Error(`${sql}: ${body.error} ${body.message}`);
  return body;
}

const one = async (sql: string): Promise<unknown> => (await ok(sql)).rows?.[0]?.[0];

/** Asks until there is an answer: a process may be starting again. */
async function settled<T>(ask: () => Promise<T>): Promise<T> {
  for (const endMs = performance.now() + GONE_MS_MAX; ; await sleep(200)) {
    try {
      return await ask();
    } catch (error) {
      if (performance.now() > endMs) throw error;
    }
  }
}

async function folderOf(table: string): Promise<string> {
  const { body } = await cluster.catalog('GET', `/v1/lake/namespaces/kills/tables/${table}`);
  return fileURLToPath(new URL((body as { metadata: { location: string } }).metadata.location));
}

async function files(pattern: string, cwd = folder): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const file of glob(pattern, { cwd })) found.push(file);
  return found;
}

const kill = (kind: Killed): Promise<void> => killService(kind, { cluster, own: [client, holder] });

/** A place in a write. `hold` keeps every write from passing it until `release`. */
type Step = { readonly hold: () => Promise<unknown>; readonly release: () => Promise<unknown> };

const lockIn = (lock: string) => async (): Promise<void> => {
  await holder.query('BEGIN');
  await holder.query(lock);
};
const rollback = (): Promise<unknown> => holder.query('ROLLBACK');

/** Holds the COMMIT of each transaction that changes a table where `condition` holds. @returns lets them go on */
async function holdCommits(by: Client, condition: string): Promise<() => Promise<void>> {
  await by.query('SELECT pg_advisory_lock($1)', [LOCK]);
  await client.query(`CREATE CONSTRAINT TRIGGER hold AFTER UPDATE ON catalog.iceberg_table
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION wait_for_test()`);
  return async () => {
    await by.query('SELECT pg_advisory_unlock($1)', [LOCK]);
    await client.query('DROP TRIGGER hold ON catalog.iceberg_table');
  };
}
let letCommit: () => Promise<void> = () => Promise.resolve();

const STEPS = {
  'before the intent': {
    hold: lockIn('LOCK TABLE coordinator.write_intents IN SHARE MODE'),
    release: rollback,
  },
  'after the files, before the commit': {
    hold: lockIn('LOCK TABLE catalog.idempotency_key IN SHARE MODE'),
    release: rollback,
  },
  'in the commit, before the compare-and-swap': {
    hold: lockIn(`SELECT 1 FROM catalog.iceberg_table WHERE name IN ('t', 'updated', 'deleted', 'merged') FOR UPDATE`),
    release: rollback,
  },
  'committed, before the answer': {
    hold: async () => {
      letCommit = await holdCommits(holder, 'true');
    },
    release: () => letCommit(),
  },
} satisfies Record<string, Step>;

const held = async (): Promise<number> =>
  (await client.query('SELECT 1 FROM pg_locks WHERE NOT granted')).rowCount ?? 0;
const isHeld = async (): Promise<boolean> => (await held()) > 0;

type Sent = { readonly ids: readonly string[]; readonly answers: readonly (QueryAnswer | 'lost')[] };

type Sending = { readonly ids: Sent['ids']; readonly answers: () => Promise<Sent['answers']> };

/** INSERTs of 10 rows each, which `answers` sends all at once. */
function insertTen(statements: number): Sending {
  const ids = Array.from({ length: statements }, () => randomUUID());
  const insert = (queryId: string, i: number): Promise<QueryAnswer | 'lost'> =>
    cluster
      .query(`INSERT INTO ${TABLE} SELECT i, md5(i::VARCHAR) FROM range(${10 * i}, ${10 * i + 10}) r(i)`, { queryId })
      .catch(() => 'lost' as const);
  return { ids, answers: () => Promise.all(ids.map(insert)) };
}

/** A COPY INTO of 10 rows in three files. */
function copyTen(): Sending {
  const queryId = randomUUID();
  const copy = (): Promise<QueryAnswer | 'lost'> => cluster.query(COPY, { queryId }).catch(() => 'lost' as const);
  return { ids: [queryId], answers: async () => [await copy()] };
}
const COPY = `COPY INTO ${TABLE} FROM @lake.kills.box/ten`;

/** Runs statements that `step` holds, kills a process there, and lets the others go on. */
async function killed(step: Step, kind: Killed, { ids, answers }: Sending): Promise<Sent> {
  await step.hold();
  const answer = answers();
  try {
    await expect.poll(isHeld, { timeout: 20_000, interval: 10 }).toBe(true);
    await kill(kind);
    // The others notice it, and those who start again find the write held.
    await sleep(200);
  } finally {
    await step.release();
  }
  return { ids, answers: await answer };
}

const recordOf = async (id: string): Promise<unknown> =>
  (await client.query('SELECT status FROM coordinator.query_history WHERE query_id = $1', [id])).rows[0]?.status;

/** The law of every write: what is acknowledged is there, nothing is half done, and nothing is left of what failed. @returns whether the rows of each are there */
async function checkLaw({ ids, answers }: Sent): Promise<readonly boolean[]> {
  const endMs = performance.now() + GONE_MS_MAX;
  const left = (): { readonly timeout: number } => ({ timeout: Math.max(1_000, endMs - performance.now()) });
  const open = async (): Promise<unknown> => (await client.query('SELECT * FROM coordinator.write_intents')).rows;
  for (const id of ids) await expect.poll(() => recordOf(id), left()).toMatch(/^(completed|failed)$/);
  const made: boolean[] = [];
  for (const [i, id] of ids.entries()) {
    const rows = await settled(() =>
      one(`SELECT count(*)::INT FROM ${TABLE} WHERE i >= ${10 * i} AND i < ${10 * i + 10}`),
    );
    expect([0, 10]).toContain(rows);
    made.push(rows === 10);
    expect(await recordOf(id)).toBe(rows === 10 ? 'completed' : 'failed');
    const answer = must(answers[i], 'one answer for one statement');
    if (answer === 'lost' || answer.body.error === 'COMMIT_STATE_UNKNOWN') continue;
    expect(answer.status === 200).toBe(rows === 10);
  }
  const read = must(
    (
      await settled(() =>
        ok(`SELECT (SELECT count(DISTINCT _file)::INT FROM ${TABLE}),
      (SELECT count(*)::INT FROM lake.kills."t$snapshots"),
      (SELECT count(*)::INT FROM lake.kills."t$manifests")`),
      )
    ).rows?.[0],
    'one row',
  );
  const [dataFiles, snapshots, manifests] = read.map(Number);
  await expect.poll(async () => (await files('**/*.parquet')).length, left()).toBe(dataFiles);
  const lists = must(snapshots, 'a count') + must(manifests, 'a count');
  await expect.poll(async () => (await files('**/*.avro')).length, left()).toBe(lists);
  await expect.poll(open, left()).toEqual([]);
  await settled(() => ok(`INSERT INTO ${TABLE} VALUES (-1, 'after')`));
  return made;
}

const POINTS = Object.keys(STEPS) as (keyof typeof STEPS)[];

describe('kill -9 of the coordinator', () => {
  test.each(POINTS)('%s', async (point) => {
    const sent = await killed(STEPS[point], 'coordinator', insertTen(1));
    expect(sent.answers).toEqual(['lost']);
    const made = await checkLaw(sent);
    if (point === 'before the intent') expect(made).toEqual([false]);
    if (point === 'committed, before the answer') expect(made).toEqual([true]);
  });

  test('committed, before the answers of small INSERTs that share the commit', async () => {
    const { ids, answers } = insertTen(6);
    const { hold, release } = STEPS['after the files, before the commit'];
    await hold();
    const answer = answers();
    // One commit is under way, and the others have come to theirs.
    await expect.poll(isHeld, { timeout: 20_000, interval: 10 }).toBe(true);
    await expect.poll(async () => (await files('**/*.parquet')).length, { timeout: 20_000 }).toBe(6);
    await sleep(1_000);
    const later = await holdCommits(
      client,
      'NEW.version > OLD.version AND NEW.metadata LIKE \'%"total-records":"60"%\'',
    );
    await release();
    await expect.poll(isHeld, { timeout: 20_000, interval: 10 }).toBe(true);
    await kill('coordinator');
    await later();
    const sent = { ids, answers: await answer };
    expect(await checkLaw(sent)).toEqual(ids.map(() => true));
    expect(sent.answers.filter((one) => one === 'lost')).toHaveLength(5);
  });
});

describe('kill -9 of the catalog', () => {
  test.each(POINTS)('%s', async (point) => {
    const sent = await killed(STEPS[point], 'catalog', insertTen(3));
    const made = await checkLaw(sent);
    if (point === 'committed, before the answer') expect(made).toContain(true);
  });
});

describe('kill -9 of a worker', () => {
  test.each(POINTS)('%s: the statement completes', async (point) => {
    const sent = await killed(STEPS[point], 'worker', insertTen(1));
    expect(sent.answers).toMatchObject([{ status: 200 }]);
    expect(await checkLaw(sent)).toEqual([true]);
  });
});

describe('Postgres ends every connection', () => {
  test.each(POINTS)('%s', async (point) => {
    await checkLaw(await killed(STEPS[point], 'connections', insertTen(3)));
  });
});

describe('COPY INTO', () => {
  beforeAll(async () => {
    await ok('CREATE STAGE lake.kills.box');
    for (const [i, from] of [0, 4, 7].entries()) {
      const rows = Array.from({ length: i === 0 ? 4 : 3 }, (_, row) => `${from + row},text\n`);
      await putStageFile(cluster, 'lake.kills.box', `ten/${i}.csv`, rows.join(''));
    }
  });

  /** The files that the catalog remembers as loaded into the table. */
  const remembered = async (): Promise<number> => {
    const { rows } = await client.query(
      "SELECT l.path FROM catalog.loaded_file l JOIN catalog.iceberg_table t ON t.id = l.table_id WHERE t.name = 't'",
    );
    return rows.length;
  };

  /** The files count as loaded exactly when their rows are there; the next statement loads them, or leaves them out. */
  async function checkLoads(sent: Sent): Promise<boolean> {
    const [isMade] = await checkLaw(sent);
    expect(await remembered()).toBe(isMade === true ? 3 : 0);
    const again = await settled(() => ok(COPY));
    expect(again.rows).toHaveLength(isMade === true ? 0 : 3);
    const counts = `SELECT count(*)::INT || ' of ' || count(DISTINCT i)::INT FROM ${TABLE} WHERE i >= 0`;
    expect(await settled(() => one(counts))).toBe('10 of 10');
    expect(await remembered()).toBe(3);
    return isMade === true;
  }

  test.each(POINTS)('kill -9 of the coordinator: %s', async (point) => {
    const isMade = await checkLoads(await killed(STEPS[point], 'coordinator', copyTen()));
    if (point === 'before the intent') expect(isMade).toBe(false);
    if (point === 'committed, before the answer') expect(isMade).toBe(true);
  });

  test.each(POINTS)('kill -9 of the catalog: %s', async (point) => {
    await checkLoads(await killed(STEPS[point], 'catalog', copyTen()));
  });

  test.each(POINTS)('kill -9 of a worker: %s: the statement completes', async (point) => {
    expect(await checkLoads(await killed(STEPS[point], 'worker', copyTen()))).toBe(true);
  });

  test.each(POINTS)('Postgres ends every connection: %s', async (point) => {
    await checkLoads(await killed(STEPS[point], 'connections', copyTen()));
  });

  test('kill -9 of a worker while its tasks read the files: each row comes once', async () => {
    const rows = 400_000;
    for (let file = 0; file < 4; file += 1) {
      const lines = Array.from({ length: rows }, (_, i) => `${file * rows + i},${'x'.repeat(40)}\n`);
      await putStageFile(cluster, 'lake.kills.box', `large/${file}.csv`, lines.join(''));
    }
    const answer = cluster.query(`COPY INTO ${TABLE} FROM @lake.kills.box/large`);
    await expect
      .poll(async () => (await files('**/*.parquet')).length, { timeout: 20_000, interval: 5 })
      .toBeGreaterThan(0);
    await kill('worker');
    expect(await answer).toMatchObject({ status: 200 });
    expect(await one(`SELECT count(*)::INT || ' of ' || count(DISTINCT i)::INT FROM ${TABLE}`)).toBe(
      `${4 * rows} of ${4 * rows}`,
    );
  });
});

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

describe('UPDATE, DELETE and MERGE', () => {
  beforeEach(async () => {
    for (const name of CHANGED) {
      const create = `CREATE TABLE lake.kills.${name} (i BIGINT, t VARCHAR) WITH (${CHANGES[name].properties})`;
      await expect.poll(() => ok(create), { timeout: GONE_MS_MAX }).toBeDefined();
      for (const from of [0, 30, 60]) {
        await ok(`INSERT INTO lake.kills.${name} SELECT i, 'old' FROM range(${from}, ${from + 30}) r(i)`);
      }
    }
  });

  afterEach(async () => {
    for (const name of CHANGED) await ok(`DROP TABLE lake.kills.${name} PURGE`);
  });

  const stateOf = async (name: Changed): Promise<readonly number[]> => {
    const { rows } = await ok(
      `SELECT count(*)::INT, (count(*) FILTER (WHERE t = 'new'))::INT, sum(i)::INT FROM lake.kills.${name}`,
    );
    return must(rows?.[0], 'one row').map(Number);
  };

  /** The files that some snapshot of the table has; those of manifest lists are only counted. */
  async function reached(name: Changed): Promise<{ readonly files: readonly string[]; readonly lists: number }> {
    const ids = must((await ok(`SELECT snapshot_id::VARCHAR FROM lake.kills."${name}$snapshots"`)).rows, 'rows').flat();
    const found = new Set<string>();
    for (const id of ids) {
      const of = (kind: string, path: string): string =>
        `SELECT ${path} FROM lake.kills."${name}$${kind}" AT (VERSION => ${id as string})`;
      const { rows } = await ok(`${of('files', 'file_path')} UNION ALL ${of('manifests', 'path')}`);
      for (const [path] of must(rows, 'rows')) found.add(basename(path as string));
    }
    return { files: [...found].sort(), lists: ids.length };
  }

  /** The tables have the files of their snapshots and no other. */
  async function checkFiles(left: () => { readonly timeout: number }): Promise<void> {
    for (const name of CHANGED) {
      const own = await settled(() => folderOf(name));
      const wanted = await settled(() => reached(name));
      const there = async (): Promise<readonly string[]> =>
        (await files('**/*.{parquet,puffin,avro}', own))
          .map((file) => basename(file))
          .filter((file) => !file.startsWith('snap-'))
          .sort();
      await expect.poll(there, left()).toEqual(wanted.files);
      expect(await files('**/snap-*.avro', own)).toHaveLength(wanted.lists);
    }
  }

  /** Runs the three statements at once, which `step` holds, kills a process there, and lets the others go on. */
  async function killedAll(step: Step, kind: Killed): Promise<Readonly<Record<Changed, boolean>>> {
    const sent = CHANGED.map((name) => ({ name, id: randomUUID() }));
    await step.hold();
    const answering = Promise.all(
      sent.map(({ name, id }) => cluster.query(CHANGES[name].sql, { queryId: id }).catch(() => 'lost' as const)),
    );
    try {
      await expect.poll(held, { timeout: 20_000, interval: 10 }).toBeGreaterThanOrEqual(CHANGED.length);
      await kill(kind);
      await sleep(200);
    } finally {
      await step.release();
    }
    const answers = await answering;
    const endMs = performance.now() + GONE_MS_MAX;
    const left = (): { readonly timeout: number } => ({ timeout: Math.max(1_000, endMs - performance.now()) });
    const made: Partial<Record<Changed, boolean>> = {};
    for (const [i, { name, id }] of sent.entries()) {
      await expect.poll(() => recordOf(id), left()).toMatch(/^(completed|failed)$/);
      const state = await settled(() => stateOf(name));
      const { after, count } = CHANGES[name];
      expect([BEFORE, after]).toContainEqual(state);
      const isMade = state.join() === after.join();
      made[name] = isMade;
      expect(await recordOf(id)).toBe(isMade ? 'completed' : 'failed');
      const answer = must(answers[i], 'one answer for one statement');
      if (answer === 'lost' || answer.body.error === 'COMMIT_STATE_UNKNOWN') continue;
      expect(answer.status === 200).toBe(isMade);
      if (isMade) expect(Number(answer.body.rows?.[0]?.[0])).toBe(count);
    }
    await checkFiles(left);
    await settled(() => ok(`UPDATE lake.kills.updated SET t = 'later' WHERE i = 1`));
    return made as Readonly<Record<Changed, boolean>>;
  }

  test.each(POINTS)('kill -9 of the coordinator: %s', async (point) => {
    const made = await killedAll(STEPS[point], 'coordinator');
    if (point === 'before the intent') expect(Object.values(made)).toEqual([false, false, false]);
    if (point === 'committed, before the answer') expect(Object.values(made)).toEqual([true, true, true]);
  });

  test.each(POINTS)('kill -9 of the catalog: %s', async (point) => {
    await killedAll(STEPS[point], 'catalog');
  });

  test.each(POINTS)('kill -9 of a worker: %s: the statements complete', async (point) => {
    expect(Object.values(await killedAll(STEPS[point], 'worker'))).toEqual([true, true, true]);
  });

  const leftOf = (endMs: number) => (): { readonly timeout: number } => ({
    timeout: Math.max(1_000, endMs - performance.now()),
  });

  /** Runs the three statements in a transaction of a session. */
  async function begin(): Promise<(sql: string, queryId?: string) => Promise<QueryAnswer | 'lost'>> {
    const sessionId = randomUUID();
    const inside = (sql: string, queryId: string = randomUUID()): Promise<QueryAnswer | 'lost'> =>
      cluster.query(sql, { sessionId, queryId }).catch(() => 'lost' as const);
    for (const sql of ['BEGIN', ...CHANGED.map((name) => CHANGES[name].sql)]) {
      expect(await inside(sql)).toMatchObject({ status: 200 });
    }
    return inside;
  }

  /** Runs a COMMIT of all three, which `step` holds, kills a process there, and lets it go on. @returns whether it happened */
  async function killedTransaction(step: Step, kind: Killed): Promise<boolean> {
    const inside = await begin();
    const id = randomUUID();
    await step.hold();
    const answering = inside('COMMIT', id);
    try {
      await expect.poll(isHeld, { timeout: 20_000, interval: 10 }).toBe(true);
      await kill(kind);
      await sleep(200);
    } finally {
      await step.release();
    }
    const answer = await answering;
    const left = leftOf(performance.now() + GONE_MS_MAX);
    await expect.poll(() => recordOf(id), left()).toMatch(/^(completed|failed)$/);
    const states = [];
    for (const name of CHANGED) states.push(await settled(() => stateOf(name)));
    const isMade = states[0]?.join() !== BEFORE.join();
    expect(states).toEqual(CHANGED.map((name) => (isMade ? CHANGES[name].after : BEFORE)));
    expect(await recordOf(id)).toBe(isMade ? 'completed' : 'failed');
    if (answer === 'lost') {
      // What the client meant for the transaction must not be committed by itself.
      expect(await inside('DELETE FROM lake.kills.updated')).toMatchObject({ body: { sql_state: '25P02' } });
      expect(await inside('ROLLBACK')).toMatchObject({ status: 200 });
    } else if (answer.body.error !== 'COMMIT_STATE_UNKNOWN') expect(answer.status === 200).toBe(isMade);
    await checkFiles(left);
    await settled(() => ok(`UPDATE lake.kills.updated SET t = 'later' WHERE i = 1`));
    return isMade;
  }

  describe.each(['coordinator', 'catalog', 'connections'] as const)(
    'COMMIT of all three in a transaction: %s',
    (kind) => {
      test.each(POINTS)('%s', async (point) => {
        const isMade = await killedTransaction(STEPS[point], kind);
        if (kind !== 'coordinator') return;
        if (point === 'before the intent') expect(isMade).toBe(false);
        if (point === 'committed, before the answer') expect(isMade).toBe(true);
      });
    },
  );

  test('kill -9 of the coordinator before the COMMIT of a transaction: nothing of it is left', async () => {
    const inside = await begin();
    await kill('coordinator');
    const left = leftOf(performance.now() + GONE_MS_MAX);
    for (const name of CHANGED) expect(await settled(() => stateOf(name))).toEqual(BEFORE);
    expect(await inside('COMMIT')).toMatchObject({ body: { sql_state: '25P02' } });
    expect(await inside('ROLLBACK')).toMatchObject({ status: 200 });
    await checkFiles(left);
  });
});

test('no write is left open', async () => {
  const open = async (): Promise<unknown> => (await client.query('SELECT * FROM coordinator.write_intents')).rows;
  await expect.poll(open, { timeout: GONE_MS_MAX }).toEqual([]);
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
      const answer = await cluster.query(`INSERT INTO ${TABLE} VALUES (${i}, 'x')`, { queryId }).catch(() => undefined);
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
    await kill(kind);
  }
  await moreAreAnswered();
  over.abort();
  await Promise.all(clients);
  const running = `SELECT query_id FROM coordinator.query_history WHERE status IN ('queued', 'running') AND query_id = ANY($1)`;
  await expect.poll(async () => (await client.query(running, [ids])).rows, { timeout: GONE_MS_MAX }).toEqual([]);
  const rows = must((await settled(() => ok(`SELECT i FROM ${TABLE}`))).rows, 'rows').map(([i]) => Number(i));
  const there = new Set(rows);
  expect(rows).toHaveLength(there.size);
  expect([...acknowledged].filter((i) => !there.has(i))).toEqual([]);
  expect([...refused].filter((i) => there.has(i))).toEqual([]);
  const completed = `SELECT count(*)::INT AS n FROM coordinator.query_history WHERE status = 'completed' AND query_id = ANY($1)`;
  await expect.poll(async () => (await client.query(completed, [ids])).rows[0]?.n).toBe(there.size);
  const read = await settled(() => one(`SELECT count(DISTINCT _file)::INT FROM ${TABLE}`));
  await expect.poll(async () => (await files('**/*.parquet')).length, { timeout: GONE_MS_MAX }).toBe(read);
}, 600_000);
