import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { BROWSED_NAMES, browsedTables, type BrowsedTables } from '#test/support/browsed-tables.ts';
import { fieldsOf, PostgresWire, rowOf, type ServerMessage } from '#test/support/postgres-wire.ts';
import { spelledOtherwise } from '#test/support/spelled-otherwise.ts';
import { toolStatements, type ToolStatement } from '#test/support/tool-statements.ts';

/**
 * Statements that tools send by themselves, to Skein and to the project's real Postgres with the same tables: the same columns with the same types, the same
 * types of parameters, the same class of SQLSTATE, and the same names of ours in the rows.
 */
let tables: BrowsedTables;
beforeAll(async () => {
  tables = await browsedTables(`statements_${process.pid}`);
});
afterAll(() => tables[Symbol.asyncDispose]());

/** Statements that Skein answers otherwise, and why. One that comes to agree has to be taken out. */
const DIFFERENCES: readonly { readonly numbers: readonly number[]; readonly how: string; readonly why: string }[] = [
  {
    numbers: [1, 2, 58],
    how: 'error none',
    why: 'psql 15 asks for a column by its name before Postgres 17, which is known here',
  },
  { numbers: [62], how: 'columns', why: 'Postgres has two functions of this name, and fails behind its description' },
  { numbers: [87], how: 'columns', why: 'a column that is computed has its text as name on every door' },
  { numbers: [90], how: 'columns', why: 'generate_series without FROM is a list on every door' },
  { numbers: [102], how: 'columns', why: 'there is no type void' },
  {
    numbers: [106, 246],
    how: 'columns',
    why: 'a query without a relation of the catalog is one of every door, and current_schema is a text',
  },
  {
    numbers: [113, 138, 140, 141, 152, 161, 180, 182, 183, 194, 207, 209, 210],
    how: 'columns',
    why: 'JSON is jsonb, as everywhere',
  },
  {
    numbers: [163, 165, 166, 168, 169, 177, 185, 186, 187, 189],
    how: 'parameters',
    why: 'the statement does not cast them: psycopg, which sends it, declares their types',
  },
  {
    numbers: [248],
    how: 'parameters',
    why: 'a number that is compared with an oid is a BIGINT; the driver declares it',
  },
];

type Answer = {
  /** Class of the SQLSTATE; empty when there is no error. */
  readonly error: string;
  readonly message: string;
  /** Types of the parameters, by their numbers. */
  readonly parameters: string;
  /** `name type` of each column, of each result. */
  readonly columns: string;
  readonly names: string;
  /** The rows, in an order of their own: a query need not say one. */
  readonly rows: readonly string[];
};

/** One of the two servers, which a client at a time speaks with. */
class Side {
  readonly #url: URL;
  #client = '';
  #wire: PostgresWire | undefined;
  /** The numbers that tables have in the statements, and those that they have here. */
  #numbers: ReadonlyMap<string, string> = new Map();

  constructor(url: URL) {
    this.#url = url;
  }

  async answer(statement: ToolStatement): Promise<Answer> {
    const wire = await this.#connected(statement.client);
    const sql = this.#withNumbers(statement.sql);
    const values = statement.values.map((value) => this.#withNumbers(value));
    if (statement.protocol === 'simple') wire.send('Q', sql);
    else wire.parse('', sql).describe('S', '').bind('', '', values).execute('').sync();
    const messages = await wire.messages();
    // A failed transaction would fail all statements behind it.
    if (must(messages.at(-1), 'an answer ends').body.toString() === 'E') await wire.query('ROLLBACK');
    return answerOf(messages);
  }

  async #connected(client: string): Promise<PostgresWire> {
    if (client === this.#client && this.#wire !== undefined) return this.#wire;
    await this.close();
    const connection = new pg.Client({ connectionString: this.#url.href });
    await connection.connect();
    const { rows } = await connection.query<{ relname: string; oid: string }>(
      `SELECT relname::text, oid::text FROM pg_catalog.pg_class WHERE relname IN ('customers', 'orders', 'order_names')
         UNION ALL SELECT relname || ' row', reltype::text FROM pg_catalog.pg_class WHERE relname IN ('customers', 'orders')`,
    );
    const oids = new Map(rows.map(({ relname, oid }) => [relname, oid]));
    this.#numbers = new Map(
      Object.entries(NUMBERS).map(([number, name]) => [number, must(oids.get(name), `${name} is there`)]),
    );
    this.#client = client;
    this.#wire = PostgresWire.of(connection);
    return this.#wire;
  }

  #withNumbers = (text: string): string =>
    text.replaceAll(/\b16\d{3}\b/g, (number) => this.#numbers.get(number) ?? number);

  async close(): Promise<void> {
    await this.#wire?.[Symbol.asyncDispose]();
  }
}

/** Objects that had these numbers when the statements were seen; types of rows stand for other types that only Postgres has. */
const NUMBERS = {
  16390: 'customers',
  16674: 'customers',
  16686: 'orders',
  16700: 'order_names',
  16561: 'customers row',
  16555: 'orders row',
  16443: 'customers row',
} as const;

function answerOf(messages: readonly ServerMessage[]): Answer {
  const error = messages.find(({ type }) => type === 'E');
  const fields = error === undefined ? undefined : fieldsOf(error.body);
  const cells = messages.filter(({ type }) => type === 'D').flatMap(({ body }) => rowOf(body));
  const words = new Set(cells.flatMap((cell) => cell?.split(/\W+/) ?? []));
  return {
    error: fields?.get('C')?.slice(0, 2) ?? '',
    message: fields === undefined ? '' : `${fields.get('C')} ${fields.get('M')}`,
    parameters: messages
      .filter(({ type }) => type === 't')
      .map(({ body }) => parametersOf(body))
      .join(),
    columns: messages
      .filter(({ type }) => type === 'T')
      .map(({ body }) => columnsOf(body))
      .join('; '),
    names: BROWSED_NAMES.filter((name) => words.has(name)).join(' '),
    rows: messages
      .filter(({ type }) => type === 'D')
      .map(({ body }) => body.toString('hex'))
      .toSorted(),
  };
}

/**
 * `"char"`, name, bpchar, varchar and regclass: a driver sends the same bytes for them as for text, which Skein says. All other types are compared as they
 * are: asyncpg takes a number for an INTEGER alone.
 */
const TEXTS: ReadonlySet<number> = new Set([18, 19, 25, 1042, 1043, 2205]);

const parametersOf = (body: Buffer): string =>
  Array.from({ length: body.readInt16BE(0) }, (_, i) => body.readInt32BE(2 + 4 * i))
    .map((type) => (TEXTS.has(type) ? 'text' : type))
    .join(' ');

/** Bytes behind a column's name: of its table, its number there, its type, and more. */
const [TABLE_BYTES, COLUMN_BYTES] = [6, 18];

function columnsOf(body: Buffer): string {
  let at = 2;
  return Array.from({ length: body.readInt16BE(0) }, () => {
    const end = body.indexOf(0, at);
    const text = `${body.toString('utf8', at, end)} ${body.readInt32BE(end + 1 + TABLE_BYTES)}`;
    at = end + 1 + COLUMN_BYTES;
    return text;
  }).join(', ');
}

/** The first thing in which the answers differ, and both; undefined when they are the same. */
function difference(ours: Answer, theirs: Answer): { readonly how: string; readonly seen: string } | undefined {
  if (ours.error !== theirs.error) {
    return { how: `error ${ours.error || 'none'}`, seen: `${ours.message || 'rows'} <> ${theirs.message || 'rows'}` };
  }
  for (const how of ['parameters', 'columns', 'names'] as const) {
    if (ours[how] !== theirs[how]) return { how, seen: `${ours[how]} <> ${theirs[how]}` };
  }
  return undefined;
}

test('statements that tools send: the answers of Postgres, but for the listed differences', async () => {
  const [ours, theirs] = [new Side(tables.ours), new Side(tables.theirs)];
  const found: string[] = [];
  const seen: string[] = [];
  for (const statement of toolStatements()) {
    const [mine, real] = await Promise.all([ours.answer(statement), theirs.answer(statement)]);
    const differs = difference(mine, real);
    if (differs === undefined) continue;
    found.push(`${statement.number} ${differs.how}`);
    seen.push(`${statement.number} ${statement.client}: ${differs.seen}`);
  }
  await Promise.all([ours.close(), theirs.close()]);
  const listed = DIFFERENCES.flatMap(({ numbers, how }) => numbers.map((number) => `${number} ${how}`));
  expect(found.toSorted(), seen.join('\n')).toEqual(listed.toSorted());
}, 300_000);

/** Statements that only read, and of which the same statement again gives the same rows. */
const READS = /^\s*(?:select|with)\b/i;
const CHANGING = /\bpg_(?:sleep|terminate_backend|cancel_backend|stat_activity|backend_pid)\b|\bfor update\b/i;

test('names that are spelled otherwise mean the same: the same rows, and no error that Postgres has not', async () => {
  const [ours, theirs] = [new Side(tables.ours), new Side(tables.theirs)];
  const different: string[] = [];
  let count = 0;
  for (const statement of toolStatements().filter(({ sql }) => READS.test(sql) && !CHANGING.test(sql))) {
    const plain = await ours.answer(statement);
    if (plain.error !== '') continue;
    for (const [spelling, sql] of await spelledOtherwise(statement.sql)) {
      const mine = await ours.answer({ ...statement, sql });
      count += 1;
      if (mine.error === '' && mine.rows.join() === plain.rows.join()) continue;
      // A spelling may mean nothing: two columns of a query in FROM have one name.
      const real = await theirs.answer({ ...statement, sql });
      if (mine.error !== real.error || mine.error === '')
        different.push(`${statement.number} ${spelling}: ${mine.message}`);
    }
  }
  await Promise.all([ours.close(), theirs.close()]);
  expect(different).toEqual([]);
  expect(count).toBeGreaterThan(1_000);
}, 600_000);
