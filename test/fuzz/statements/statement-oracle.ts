import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { fillPivots } from '#coordinator/prepare/fill-pivots.ts';
import type { Insert, RowWrite } from '#coordinator/operation/row-write.ts';
import type { CommandName, Statement } from '#coordinator/command/commands.ts';
import type { Planner } from '#coordinator/binding/planner.ts';
import { nameStatements } from '#coordinator/resolver/name-statements.ts';
import { parseStatement } from '#coordinator/prepare/parse-statement.ts';
import { readStatement } from '#coordinator/prepare/read-statement.ts';
import { prove, type TakePart } from '#coordinator/statement/proven.ts';
import type { TextSpan } from '#coordinator/statement/statement.ts';
import { Tokenizer } from '#shared/sql/tokenizer.ts';
import { proveWrite } from '#coordinator/write/prove-write.ts';
import { SkeinError } from '#shared/error.ts';
import { RESERVED_WORDS } from '#shared/sql/reserved-words.ts';
import { must } from '#shared/must.ts';
import { SCRIPTED_ASKER } from '#test/support/scripted/tables.ts';
import { sessionPlanner } from '#test/support/session-planner.ts';
import { NEVER_AT_END, type Mutated } from './mutate-statement.ts';

const LIMITS = { bytesMax: 2 ** 20, depthMax: 1_000 };
const CONTEXT = {
  nowMicros: '1708000000000000',
  timeZone: 'UTC',
  currentUser: 'fuzz',
  currentCatalog: 'memory',
  currentSchema: 'main',
};

/** The tables of the examples, in DuckDB, so that it can bind what it also has. */
const TABLES = `
  CREATE TABLE orders (id BIGINT, day DATE, customer BIGINT, price DECIMAL(10, 2), region VARCHAR, ordered TIMESTAMPTZ, x INT);
  CREATE TABLE prices (id BIGINT, price DECIMAL(10, 2), x INT);
  CREATE TABLE blocked (customer BIGINT, x INT);
  CREATE TABLE t (a INT, d DATE, x INT)`;

/** The message of DuckDB's binder for an expression that gives several values. */
const SEVERAL_VALUES = /STAR expression is not supported here|UNNEST/;

/** How a statement was read: its parts as tokens, without their places and without comments; or why it was refused. */
type Reading = { readonly form: string; readonly command: CommandName } | { readonly refusal: SkeinError };

/** Statements whose grammar is DuckDB's. */
const DUCKDB_COMMANDS: ReadonlySet<CommandName> = new Set([
  'query',
  'explain',
  'insert',
  'deleteFrom',
  'update',
  'merge',
  'prepare',
]);

export type Outcomes = { accepted: number; refused: number; comments: number; bound: number };

/**
 * Reads statements as the coordinator does, up to the texts that are made of their parts, and compares with DuckDB's parser where DuckDB has
 * the statement, too. The laws:
 * 1. A comment between two tokens changes nothing.
 * 2. A refusal is an error of the user, and a syntax error has a place within the statement.
 * 3. A statement that DuckDB has, too, is refused when DuckDB's parser refuses it, or its binder for an expression of several values.
 * 4. No statement of our own goes on behind its end.
 */
export class StatementOracle {
  readonly outcomes: Outcomes = { accepted: 0, refused: 0, comments: 0, bound: 0 };
  /** Whether the last statement has a query, which DuckDB's parser reads to the end. */
  #hasQuery = false;
  readonly #planner: Planner;
  readonly #duckdb: DuckDBConnection;

  private constructor(planner: Planner, duckdb: DuckDBConnection) {
    this.#planner = planner;
    this.#duckdb = duckdb;
  }

  static async open(): Promise<StatementOracle> {
    const duckdb = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
    await duckdb.run(TABLES);
    return new StatementOracle(await sessionPlanner(), duckdb);
  }

  /** Why a statement that was made of `original` breaks a law; null when it keeps all. */
  async wrong(original: string, { sql, junk, isComment, isAtEnd }: Mutated): Promise<string | null> {
    const found = await this.#read(sql);
    if ('refusal' in found) {
      this.outcomes.refused += 1;
      const { code, position, entry, message } = found.refusal;
      if (isComment) return 'form' in (await this.#read(original)) ? `a comment is refused: ${message}` : null;
      if (entry.kind !== 'user' && code !== 'STATEMENT_TOO_COMPLEX') return `refused with ${code}: ${message}`;
      const isPlaced = position !== undefined && position >= 0 && position <= sql.length;
      return code === 'SYNTAX_ERROR' && !isPlaced ? `refused without a place: ${message}` : null;
    }
    this.outcomes.accepted += 1;
    if (isComment) {
      this.outcomes.comments += 1;
      const before = await this.#read(original);
      return 'form' in before && before.form === found.form ? null : 'a comment changes the statement';
    }
    if (DUCKDB_COMMANDS.has(found.command) && (await this.#parses(original))) {
      this.outcomes.bound += 1;
      const refusal = await this.#refusalOfDuckDb(sql, junk);
      return refusal === null ? null : `DuckDB refuses it: ${refusal}`;
    }
    return isAtEnd && NEVER_AT_END.has(junk) && !this.#hasQuery ? 'the statement goes on behind its end' : null;
  }

  async #parses(sql: string): Promise<boolean> {
    return this.#duckdb.extractStatements(sql).then(
      ({ count }) => count === 1,
      () => false,
    );
  }

  async #refusalOfDuckDb(sql: string, junk: string): Promise<string | null> {
    if (!(await this.#parses(sql))) {
      // A reserved word is a name here without quotes, too.
      const [word = ''] = junk.split(' ');
      const isName =
        RESERVED_WORDS.has(word) &&
        (await this.#parses(sql.replace(` ${junk} `, ` "${word}"${junk.slice(word.length)} `)));
      return isName ? null : 'it does not parse, or is not one statement';
    }
    // The planner binds queries, and RETURNING, before anything runs.
    if (this.#hasQuery || / RETURNING /.test(sql)) return null;
    try {
      (await this.#duckdb.prepare(sql)).destroySync();
      return null;
    } catch (error) {
      const [message = ''] = String(error).split('\n');
      return SEVERAL_VALUES.test(message) ? message : null;
    }
  }

  async #read(sql: string): Promise<Reading> {
    try {
      this.#hasQuery = false;
      const statement = parseStatement(sql, LIMITS);
      await this.#input(statement);
      return { form: JSON.stringify(formOf(statement)), command: statement.command };
    } catch (thrown) {
      return { refusal: SkeinError.of(thrown) };
    }
  }

  async #input({ command, input }: Statement): Promise<void> {
    if (command === 'insert') {
      if (input.values === null) await this.#query(input.query);
      requireEqualRows(input);
      await this.#write({ kind: 'insert', input });
    } else if (command === 'update') await this.#write({ kind: 'update', input });
    else if (command === 'deleteFrom') await this.#write({ kind: 'delete', input });
    else if (command === 'merge') {
      this.#hasQuery = input.source.kind === 'query';
      await this.#write({ kind: 'merge', input });
    } else if (command === 'explain' && 'write' in input) {
      const { kind, input: written } = input.write;
      await this.#input({ command: kind === 'delete' ? 'deleteFrom' : kind, input: written } as Statement);
    } else if (command === 'copyInto') {
      if ('unload' in input) await this.#query(input.unload.query);
      else await this.#prove((take) => input.copy.select?.expressions.map((one) => take('expression', one)));
    } else if (command === 'optimizeTable') await this.#prove((take) => take('expression', input.call.where));
    else if (command === 'alterTable') {
      const { action } = input;
      if (action.kind === 'execute') await this.#prove((take) => take('expression', action.call.where));
    } else if (command === 'prepare') await this.#prepared(input.statement.text);
    else if (command === 'execute') {
      await this.#prove((take) => input.arguments.map(({ expression }) => take('expression', expression)));
    } else if (command === 'createTable') {
      if ('query' in input.shape) await this.#query(input.shape.query);
    } else if (typeof input === 'object' && input !== null && 'query' in input) await this.#query(input.query);
  }

  async #prepared(sql: string): Promise<void> {
    const { parsed } = readStatement({ sql, parameters: { kind: 'unknown', types: [] }, limits: LIMITS });
    if (parsed.kind === 'refused') throw SkeinError.fromData(parsed.error);
    await this.#input(parsed.statement);
  }

  async #write(write: RowWrite): Promise<void> {
    await proveWrite(write, { prove: (read) => this.#proven(read) });
  }

  async #prove(read: (take: TakePart) => unknown): Promise<void> {
    await this.#proven(read);
  }

  #proven<T>(read: (take: TakePart) => T): Promise<T> {
    return prove(read, (parts) => this.#planner.checkParts(parts, SCRIPTED_ASKER, new AbortController().signal));
  }

  /** Has DuckDB's parser read a query as a whole. */
  async #query(query: TextSpan): Promise<void> {
    this.#hasQuery = true;
    const filled = await fillPivots(query, () => Promise.resolve(['a']));
    const { text, statements } = nameStatements(filled.text);
    const defaults = { catalog: 'memory', schema: 'main' };
    const request = { sql: text.text, defaults, context: CONTEXT };
    await this.#planner.parse(request, SCRIPTED_ASKER, new AbortController().signal).catch((thrown: unknown) => {
      const { code, message, position } = SkeinError.of(thrown);
      throw new SkeinError(code, message, { position: query.offset + text.toSource(position ?? 0) });
    });
    for (const { text: inner } of statements.values()) {
      if (!inner.startsWith('@') && !inner.startsWith("'")) await this.#input(parseStatement(inner, LIMITS));
    }
  }
}

/** An INSERT knows the number of values that it wants by its table. @throws SYNTAX_ERROR */
function requireEqualRows({ values, query }: Insert): void {
  if (new Set(values?.map(({ length }) => length)).size < 2) return;
  throw new SkeinError('SYNTAX_ERROR', 'rows of different lengths', { position: query.offset });
}

/** Members of a statement that are places, and the text that has all others in it. */
const PLACES: ReadonlySet<string> = new Set(['position', 'offset', 'location', 'rest']);

function formOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(formOf);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  if (entries.length === 2 && 'text' in value && 'offset' in value) return tokensOf(String(value.text));
  return Object.fromEntries(entries.filter(([key]) => !PLACES.has(key)).map(([key, one]) => [key, formOf(one)]));
}

function tokensOf(text: string): readonly string[] {
  const tokens = new Tokenizer(text);
  const found: string[] = [];
  for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
    found.push(must(text.slice(token.start, token.end), 'a token has a text'));
  }
  return found;
}
