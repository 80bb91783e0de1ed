import pg from 'pg';
import { must } from '#shared/must.ts';
import { BROWSED_NAMES } from './browsed-tables.ts';
import { fieldsOf, PostgresWire, rowOf, type ServerMessage } from './postgres-wire.ts';
import type { ToolStatement } from './tool-statements.ts';

/** The answer of a server to one statement. */
export type ToolAnswer = {
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

/** A server that one tool at a time sends its statements to. */
export class ToolServer {
  readonly #url: URL;
  #client = '';
  #wire: PostgresWire | undefined;
  /** The numbers that tables have in the statements, and those that they have here. */
  #numbers: ReadonlyMap<string, string> = new Map();

  constructor(url: URL) {
    this.#url = url;
  }

  async answer(statement: ToolStatement): Promise<ToolAnswer> {
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

function answerOf(messages: readonly ServerMessage[]): ToolAnswer {
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
