import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { NS } from '#test/support/catalog-requests.ts';
import type { TestCatalog } from '#test/support/catalog.ts';
import type { QueryBody } from '#test/support/cluster.ts';
import { startPairs, type CatalogProcess, type Pair } from '#test/support/coordinator-pairs.ts';
import { fixedSeed } from '#test/support/seed.ts';

/**
 * A statement sees every commit that was acknowledged before it began. Two coordinators, each with a catalog, a database and a worker of its own; the
 * catalogs share theirs; the wire between a coordinator and its catalog delays messages, loses them, and lets those of the other overtake. Leases are so
 * short that many end on the way; `test/simulation/leases.test.ts` runs their protocol alone through many more cases.
 */
const PAIRS = 2;
const SCHEMA = 'lake.default';
const CASES = 4;
const LEASE_MS = 200;
/** Every case ends with reads over good wires, which must succeed within this time. */
const HEALED_MS_MAX = 20_000;

let catalog: TestCatalog;
let second: CatalogProcess;
let pairs: readonly Pair[];
let stack: AsyncDisposable | undefined;

beforeAll(async () => {
  const started = await startPairs(LEASE_MS);
  stack = started;
  ({ catalog, second, pairs } = started);
});

afterAll(() => stack?.[Symbol.asyncDispose]());

type Answer = { readonly status: number; readonly body: QueryBody };

async function post(url: string, body: object): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${catalog.token}` },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as QueryBody };
}

const pairAt = (i: number): Pair => must(pairs[i], 'a pair');
const sql = (pair: number, text: string): Promise<Answer> => post(`${pairAt(pair).queryUrl}/api/query`, { sql: text });

/** Asks again until the answer is good: the wires are. */
async function untilOk(pair: number, text: string): Promise<QueryBody> {
  const end = performance.now() + HEALED_MS_MAX;
  for (;;) {
    const { status, body } = await sql(pair, text);
    if (status === 200) return body;
    if (performance.now() > end) throw new Error(`${text}: ${body.error} ${body.message}`);
    await sleep(50);
  }
}

/** Errors of a statement whose catalog does not answer; any other is a fault. */
const UNREACHABLE: ReadonlySet<string> = new Set(['CATALOG_UNAVAILABLE', 'COMMIT_STATE_UNKNOWN', 'COMMIT_NOT_APPLIED']);

/** A table, and what the answers to its writers have promised to its readers. */
class Promised {
  readonly table: string;
  readonly rows = new Set<number>();
  readonly columns = new Set<string>();
  /** Reads that were answered although the table had changed since the last read of the same coordinator. */
  told = 0;
  #next = 0;
  #changes = 0;
  readonly #seen = new Map<number, number>();

  constructor(table: string) {
    this.table = table;
  }

  get name(): string {
    return `${SCHEMA}.${this.table}`;
  }

  async insert(pair: number): Promise<void> {
    const id = this.#next++;
    const { status, body } = await sql(pair, `INSERT INTO ${this.name} (id) VALUES (${id})`);
    if (status !== 200) return allow(body, 'COMMIT_CONFLICT');
    this.rows.add(id);
    this.#changes++;
  }

  /** A client of the REST catalog adds a column: no coordinator knows of it. */
  async addColumn(pair: number): Promise<void> {
    const url = `${pairAt(pair).catalogUrl}${NS}/default/tables/${this.table}`;
    const loaded = await fetch(url, { headers: { authorization: `Bearer ${catalog.token}` } });
    const { metadata } = (await loaded.json()) as { metadata: TableDocument };
    const current = must(
      metadata.schemas.find((schema) => schema['schema-id'] === metadata['current-schema-id']),
      'a table has a schema',
    );
    const id = metadata['last-column-id'] + 1;
    const schema = { ...current, fields: [...current.fields, { id, name: `c${id}`, required: false, type: 'long' }] };
    const { status } = await post(url, {
      requirements: [{ type: 'assert-current-schema-id', 'current-schema-id': current['schema-id'] }],
      updates: [
        { action: 'add-schema', schema },
        { action: 'set-current-schema', 'schema-id': -1 },
      ],
    });
    expect([200, 409]).toContain(status);
    if (status !== 200) return;
    this.columns.add(`c${id}`);
    this.#changes++;
  }

  async readAll(pair: number, ask = sql): Promise<void> {
    const [rows, columns] = [[...this.rows], [...this.columns]];
    const isNew = this.#isNewTo(pair);
    const { status, body } = await ask(pair, `SELECT * FROM ${this.name}`);
    if (status !== 200) return allow(body);
    const ids = new Set(body.rows?.map(([id]) => id));
    expect(
      rows.filter((id) => !ids.has(id)),
      `rows that coordinator ${pair} has missed`,
    ).toEqual([]);
    expect(
      columns.filter((name) => !body.columns?.includes(name)),
      `columns that coordinator ${pair} has missed`,
    ).toEqual([]);
    if (isNew) this.told++;
  }

  /** Reads the row that was acknowledged last: queries that differ in a literal share a plan. */
  async readLast(pair: number): Promise<void> {
    const id = [...this.rows].at(-1);
    if (id === undefined) return;
    const isNew = this.#isNewTo(pair);
    const { status, body } = await sql(pair, `SELECT id FROM ${this.name} WHERE id = ${id}`);
    if (status !== 200) return allow(body);
    expect(body.rows, `row ${id} at coordinator ${pair}`).toEqual([[id]]);
    if (isNew) this.told++;
  }

  /** Asks the views of INFORMATION_SCHEMA for the table's columns, and for its rows by the snapshot. */
  async browse(pair: number): Promise<void> {
    const [rows, columns] = [this.rows.size, [...this.columns]];
    const isNew = this.#isNewTo(pair);
    const text = `SELECT t.row_count, list(c.column_name) FROM lake.information_schema.tables t
      JOIN lake.information_schema.columns c USING (table_schema, table_name) WHERE table_name = '${this.table}' GROUP BY ALL`;
    const { status, body } = await sql(pair, text);
    if (status !== 200) return allow(body);
    const [[count, names] = []] = body.rows ?? [];
    // NULL before the first snapshot.
    expect(Number(count ?? 0), `rows that coordinator ${pair} has not heard of`).toBeGreaterThanOrEqual(rows);
    expect(
      columns.filter((name) => !(names as readonly string[]).includes(name)),
      `columns that coordinator ${pair} has not heard of`,
    ).toEqual([]);
    if (isNew) this.told++;
  }

  #isNewTo(pair: number): boolean {
    const isNew = this.#seen.get(pair) !== this.#changes;
    this.#seen.set(pair, this.#changes);
    return isNew;
  }
}

/** Tables that writers make, rename and drop, each under a name of its own, and what the answers to them have promised to readers of lists. */
class PromisedNames {
  readonly prefix: string;
  /** Nobody has begun to rename or drop these. */
  readonly there = new Set<string>();
  readonly gone = new Set<string>();
  /** Lists that were answered after the last change. */
  told = 0;
  #next = 0;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  async create(pair: number): Promise<void> {
    const name = this.#newName();
    if (await this.#changes(pair, `CREATE TABLE ${SCHEMA}.${name} (a INT)`)) this.there.add(name);
  }

  async rename(pair: number): Promise<void> {
    const [from, to] = [this.#taken(), this.#newName()];
    if (from === undefined) return;
    if (!(await this.#changes(pair, `ALTER TABLE ${SCHEMA}.${from} RENAME TO ${SCHEMA}.${to}`))) return;
    this.gone.add(from);
    this.there.add(to);
  }

  async drop(pair: number): Promise<void> {
    const name = this.#taken();
    if (name !== undefined && (await this.#changes(pair, `DROP TABLE ${SCHEMA}.${name}`))) this.gone.add(name);
  }

  /** Reads the whole list. */
  async list(pair: number, ask = sql): Promise<void> {
    await this.#read(pair, `starts_with(table_name, '${this.prefix}')`, ask);
  }

  /** Reads a few places of it. */
  async look(pair: number): Promise<void> {
    const names = [...this.there, ...this.gone].slice(-20).map((name) => `'${name}'`);
    if (names.length > 0)
      await this.#read(pair, `table_schema = 'default' AND table_name IN (${names.join(', ')})`, sql);
  }

  async #read(pair: number, where: string, ask: typeof sql): Promise<void> {
    const [there, gone] = [new Set(this.there), new Set(this.gone)];
    const text = `SELECT DISTINCT table_name FROM lake.information_schema.columns WHERE ${where}`;
    const { status, body } = await ask(pair, text);
    if (status !== 200) return allow(body);
    const found = new Set(body.rows?.map(([name]) => name as string));
    const isAsked = (name: string): boolean => !where.includes(' IN ') || where.includes(`'${name}'`);
    expect(
      [...there].filter((name) => this.there.has(name) && isAsked(name) && !found.has(name)),
      `tables that coordinator ${pair} has missed`,
    ).toEqual([]);
    expect(
      [...found].filter((name) => gone.has(name)),
      `tables that coordinator ${pair} has although they are gone`,
    ).toEqual([]);
    this.told++;
  }

  #newName(): string {
    return `${this.prefix}${this.#next++}`;
  }

  #taken(): string | undefined {
    const name = [...this.there][0];
    if (name !== undefined) this.there.delete(name);
    return name;
  }

  async #changes(pair: number, text: string): Promise<boolean> {
    const { status, body } = await sql(pair, text);
    if (status !== 200) allow(body);
    return status === 200;
  }
}

type TableDocument = {
  readonly 'last-column-id': number;
  readonly 'current-schema-id': number;
  readonly schemas: readonly { readonly 'schema-id': number; readonly fields: readonly object[] }[];
};

function allow({ error = '', message }: QueryBody, ...more: readonly string[]): void {
  if (!UNREACHABLE.has(error) && !more.includes(error)) throw new Error(`${error}: ${message}`);
}

type Step = { readonly does: 'insert' | 'addColumn' | 'readAll' | 'readLast' | 'browse'; readonly pair: number };
type Fault = { readonly does: 'delay' | 'hold' | 'lose' | 'drop'; readonly pair: number; readonly ms: number };

const aPair = fc.nat({ max: PAIRS - 1 });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    does: fc.oneof(
      { arbitrary: fc.constantFrom('readAll' as const, 'readLast' as const, 'browse' as const), weight: 5 },
      { arbitrary: fc.constant('insert' as const), weight: 2 },
      { arbitrary: fc.constant('addColumn' as const), weight: 1 },
    ),
    pair: aPair,
  }),
  { minLength: 6, maxLength: 12 },
);
const faults: fc.Arbitrary<Fault[]> = fc.array(
  fc.record({
    does: fc.constantFrom('delay' as const, 'hold' as const, 'lose' as const, 'drop' as const),
    pair: aPair,
    ms: fc.integer({ min: 5, max: 150 }),
  }),
  { minLength: 4, maxLength: 10 },
);

/** `lose` loses the messages that are under way: they are held, and then the connection ends. */
async function breakWire({ does, pair, ms }: Fault): Promise<void> {
  const { wire } = pairAt(pair);
  wire.delay(does === 'delay' ? ms / 5 : 0);
  wire.hold(does === 'hold' || does === 'lose');
  await sleep(ms);
  if (does === 'drop' || does === 'lose') wire.drop();
  wire.hold(false);
}

async function one<T>(list: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  for (const item of list) await run(item);
}

test(`no stale read in ${CASES} random runs of four clients over wires that delay and lose messages`, async () => {
  let told = 0;
  const property = fc.asyncProperty(fc.tuple(steps, steps, steps, steps), faults, async (clients, broken) => {
    const promised = new Promised(`t${told}_${Math.trunc(performance.now())}`);
    await untilOk(0, `CREATE TABLE ${promised.name} (id BIGINT)`);
    await Promise.all([
      ...clients.map((list) => one(list, ({ does, pair }) => promised[does](pair))),
      one(broken, breakWire),
    ]);
    for (const { wire } of pairs) wire.delay(0);
    for (const pair of pairs.keys()) {
      await promised.readAll(pair, async (at, text) => ({ status: 200, body: await untilOk(at, text) }));
    }
    told += promised.told;
  });
  await fc.assert(property, { numRuns: CASES, seed: fixedSeed(), endOnFailure: true });
  // Otherwise the clients have seen nothing but errors.
  expect(told).toBeGreaterThan(CASES * 4);
});

const listSteps = fc.array(
  fc.record({
    does: fc.oneof(
      { arbitrary: fc.constantFrom('list' as const, 'look' as const), weight: 4 },
      { arbitrary: fc.constant('create' as const), weight: 3 },
      { arbitrary: fc.constantFrom('rename' as const, 'drop' as const), weight: 2 },
    ),
    pair: aPair,
  }),
  { minLength: 8, maxLength: 16 },
);

test(`no stale list in ${CASES} random runs of four clients that make, rename and drop tables through two catalogs`, async () => {
  let told = 0;
  const property = fc.asyncProperty(
    fc.tuple(listSteps, listSteps, listSteps, listSteps),
    faults,
    async (clients, broken) => {
      const promised = new PromisedNames(`n${told}_${Math.trunc(performance.now())}_`);
      // From here on both coordinators have a list, whose changes they follow.
      for (const pair of pairs.keys()) await promised.list(pair, async (at, text) => okBody(await untilOk(at, text)));
      await Promise.all([
        ...clients.map((list) => one(list, ({ does, pair }) => promised[does](pair))),
        one(broken, breakWire),
      ]);
      for (const { wire } of pairs) wire.delay(0);
      for (const pair of pairs.keys()) await promised.list(pair, async (at, text) => okBody(await untilOk(at, text)));
      told += promised.told;
    },
  );
  await fc.assert(property, { numRuns: CASES, seed: fixedSeed(), endOnFailure: true });
  expect(told).toBeGreaterThan(CASES * 6);
});

const okBody = (body: QueryBody): Answer => ({ status: 200, body });

test('a coordinator whose catalog is killed browses nothing that is older than a commit through the other catalog', async () => {
  const name = 'behind_a_kill';
  const browse = `SELECT count(*) FROM lake.information_schema.columns WHERE table_name = '${name}'`;
  const counted = async (pair: number): Promise<unknown> => (await untilOk(pair, browse)).rows?.[0]?.[0];
  // Twice: the second answer comes from a list that a lease keeps.
  for (const pair of [1, 1, 0]) expect(await counted(pair)).toBe(0);
  await second.kill();
  // The lease that the dead catalog gave holds the commit up until it has ended.
  await untilOk(0, `CREATE TABLE ${SCHEMA}.${name} (a INT, b INT)`);
  const { status, body } = await sql(1, browse);
  if (status === 200) expect(body.rows).toEqual([[2]]);
  else allow(body);
  expect(await counted(0)).toBe(2);
});
