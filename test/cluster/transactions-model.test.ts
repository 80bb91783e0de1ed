import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { Random } from '#test/fuzz/random.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { fixedSeed } from '#test/support/seed.ts';

/**
 * Statements and transactions of three sessions, interleaved at random, beside a model: what each statement answers, what each session reads,
 * and which COMMIT is a conflict. `TEST_SEED` gives other ones.
 */
const SCHEMA = 'lake.transactions_model';
const TABLES = ['a', 'b'] as const;
const SESSIONS = 3;
const TURNS = 90;
const SEEDS = 3;

/** The rows of a table, `[id, v]`; each statement that changes them makes another one. */
type Rows = readonly (readonly [number, number])[];
type State = Readonly<Record<(typeof TABLES)[number], Rows>>;
/** A transaction: what it saw first, what its statements have made of it, the rows that only came, and the tables of which others went. */
type Open = {
  seen: State | null;
  now: State | null;
  added: Map<string, Rows>;
  changed: Set<string>;
  hasFailed: boolean;
  /** Its savepoints, `s0`, `s1`, ... */
  readonly points: Pick<Open, 'now' | 'added' | 'changed'>[];
};
type Session = { readonly id: string; open: Open | null };

let cluster: Cluster;
beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.sql(`CREATE SCHEMA ${SCHEMA}`);
});
afterAll(async () => {
  for (const table of TABLES) await cluster.sql(`DROP TABLE IF EXISTS ${SCHEMA}.${table} PURGE`);
  await cluster.sql(`DROP SCHEMA ${SCHEMA}`);
});

async function run(session: Session, sql: string): Promise<readonly (readonly Json[])[] | string> {
  const { status, body } = await cluster.query(sql, { sessionId: session.id });
  return status === 200 ? must(body.rows, 'rows') : String(body.sql_state);
}

/** A statement that changes rows: its text, the rows after it, and those that came. */
type Change = {
  readonly sql: string;
  readonly count: number;
  readonly after: Rows;
  readonly added: Rows;
  readonly isInsert: boolean;
};

function changeOf(random: Random, table: string, rows: Rows): Change {
  const name = `${SCHEMA}.${table}`;
  const [modulus, rest] = [2 + random.below(3), random.below(3)];
  const matches = ([id]: readonly [number, number]): boolean => id % modulus === rest;
  const where = `WHERE id % ${modulus} = ${rest}`;
  switch (random.below(4)) {
    case 0: {
      const by = 1 + random.below(9);
      const after = rows.map((row): Rows[number] => (matches(row) ? [row[0], row[1] + by] : row));
      const count = rows.filter(matches).length;
      return { sql: `UPDATE ${name} SET v = v + ${by} ${where}`, count, after, added: [], isInsert: false };
    }
    case 1: {
      const after = rows.filter((row) => !matches(row));
      const count = rows.length - after.length;
      return { sql: `DELETE FROM ${name} ${where}`, count, after, added: [], isInsert: false };
    }
    default: {
      const added: Rows = Array.from({ length: 1 + random.below(3) }, () => [random.below(1_000), random.below(100)]);
      const values = added.map((row) => `(${row.join(', ')})`).join(', ');
      const after = [...rows, ...added];
      return { sql: `INSERT INTO ${name} VALUES ${values}`, count: added.length, after, added, isInsert: true };
    }
  }
}

class Model {
  state: State = { a: [], b: [] };
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Does something in the session, and compares. */
  async turn(session: Session): Promise<void> {
    const { open } = session;
    const random = this.#random;
    if (open === null) {
      if (random.chance(0.5)) {
        expect(await run(session, 'BEGIN')).toEqual([['BEGIN']]);
        session.open = { seen: null, now: null, added: new Map(), changed: new Set(), hasFailed: false, points: [] };
      } else if (random.chance(0.6)) await this.#change(session);
      else await this.#read(session);
    } else if (open.points.length > 0 && random.chance(open.hasFailed ? 0.7 : 0.1)) {
      const at = random.below(open.points.length);
      if (!open.hasFailed && random.chance(0.3)) {
        expect(await run(session, `RELEASE s${at}`)).toEqual([['RELEASE']]);
        open.points.length = at;
        return;
      }
      expect(await run(session, `ROLLBACK TO SAVEPOINT s${at}`)).toEqual([['ROLLBACK']]);
      const { now, added, changed } = must(open.points[at], 'it is there');
      open.points.length = at + 1;
      Object.assign(open, {
        now: now ?? open.seen,
        added: new Map(added),
        changed: new Set(changed),
        hasFailed: false,
      });
    } else if (open.hasFailed) {
      if (random.chance(0.5)) expect(await run(session, 'COMMIT')).toBe('25P02');
      await this.#rollBack(session);
    } else if (random.chance(0.15)) await this.#commit(session, open);
    else if (random.chance(0.07)) await this.#rollBack(session);
    else if (random.chance(0.14)) {
      expect(await run(session, `SAVEPOINT s${open.points.length}`)).toEqual([['SAVEPOINT']]);
      open.points.push({ now: open.now, added: new Map(open.added), changed: new Set(open.changed) });
    } else if (random.chance(0.05)) {
      // It fixes what the transaction sees, too.
      this.#seen(session);
      expect(await run(session, `SELECT nothing FROM ${SCHEMA}.a`)).toBe('42703');
      open.hasFailed = true;
    } else if (random.chance(0.5)) await this.#change(session);
    else await this.#read(session);
  }

  /** The state that the session sees; its first statement fixes it. */
  #seen({ open }: Session): State {
    if (open === null) return this.state;
    open.seen ??= this.state;
    open.now ??= this.state;
    return open.now;
  }

  async #read(session: Session): Promise<void> {
    const table = this.#random.pick(TABLES);
    const rows = await run(session, `SELECT id, v FROM ${SCHEMA}.${table} ORDER BY id, v`);
    expect(rows).toEqual(this.#seen(session)[table].toSorted((x, y) => x[0] - y[0] || x[1] - y[1]));
  }

  async #change(session: Session): Promise<void> {
    const table = this.#random.pick(TABLES);
    const seen = this.#seen(session);
    const { sql, count, after, added, isInsert } = changeOf(this.#random, table, seen[table]);
    expect([sql, Number((await run(session, sql))[0]?.[0])]).toEqual([sql, count]);
    const { open } = session;
    if (open === null) {
      if (count > 0) this.state = { ...this.state, [table]: after };
      return;
    }
    if (count === 0) return;
    open.now = { ...seen, [table]: after };
    open.added.set(table, [...(open.added.get(table) ?? []), ...added]);
    if (!isInsert) open.changed.add(table);
  }

  async #commit(session: Session, { seen, now, added, changed }: Open): Promise<void> {
    session.open = null;
    const isStale = seen !== null && TABLES.some((one) => changed.has(one) && seen[one] !== this.state[one]);
    expect(await run(session, 'COMMIT')).toEqual(isStale ? '40001' : [['COMMIT']]);
    if (isStale || now === null) return;
    for (const table of TABLES) {
      if (changed.has(table)) this.state = { ...this.state, [table]: now[table] };
      else if (added.has(table)) {
        this.state = { ...this.state, [table]: [...this.state[table], ...(added.get(table) ?? [])] };
      }
    }
  }

  async #rollBack(session: Session): Promise<void> {
    session.open = null;
    expect(await run(session, 'ROLLBACK')).toEqual([['ROLLBACK']]);
  }
}

test.each(Array.from({ length: SEEDS }, (_, i) => fixedSeed() + i))(
  'every answer is that of the model: seed %i',
  async (seed) => {
    for (const [i, table] of TABLES.entries()) {
      await cluster.sql(`DROP TABLE IF EXISTS ${SCHEMA}.${table} PURGE`);
      await cluster.sql(
        `CREATE TABLE ${SCHEMA}.${table} (id INTEGER, v INTEGER) WITH ('format-version' = '${i === 0 ? 2 : 3}')`,
      );
    }
    const random = new Random(seed);
    const model = new Model(random);
    const sessions = Array.from({ length: SESSIONS }, (): Session => ({ id: randomUUID(), open: null }));
    for (let turn = 0; turn < TURNS; turn++) await model.turn(random.pick(sessions));
    for (const session of sessions) if (session.open !== null) await run(session, 'ROLLBACK');
    for (const table of TABLES) {
      const rows = await cluster.sql(`SELECT id, v FROM ${SCHEMA}.${table} ORDER BY id, v`);
      expect(rows).toEqual(model.state[table].toSorted((x, y) => x[0] - y[0] || x[1] - y[1]));
    }
  },
);
