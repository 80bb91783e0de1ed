import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DuckDBInstance, DuckDBTableFunction, INTEGER, VARCHAR, type DuckDBConnection } from '@duckdb/node-api';
import { TABLE_FUNCTIONS } from '#coordinator/binding/function-policy.ts';
import { queryPreparer } from '#coordinator/prepare/prepare-query.ts';
import type { PrepareQuery } from '#coordinator/prepare/prepare-request.ts';
import type { PreparedQuery } from '#coordinator/binding/prepared-query.ts';
import type { Planner } from '#coordinator/binding/planner.ts';
import { textOf } from '#coordinator/plan/json-node.ts';
import { sessionPlanner } from '#test/support/session-planner.ts';
import { icebergScans, SCRIPTED_ASKER, scriptedTables, tablesAlone } from '../../support/scripted/tables.ts';
import type { TableSource } from '#coordinator/binding/table-source.ts';
import { parseStatement } from '#coordinator/prepare/parse-statement.ts';
import { identifierText, stringText, Tokenizer } from '#shared/sql/tokenizer.ts';
import { SkeinError } from '#shared/error.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { CATALOGS, INTERNAL, NAMES, SCHEMAS } from './names.ts';

export const FOUND_FOLDER = join(import.meta.dirname, '../found/gate');

/** A statement about which the gate and DuckDB did not agree; they run first. */
type FoundStatement = { readonly sql: string; readonly why: string };

export const foundStatements = (): readonly (FoundStatement & { readonly name: string })[] =>
  globSync(join(FOUND_FOLDER, '*.json'))
    .sort()
    .map((file) => ({ ...(JSON.parse(readFileSync(file, 'utf8')) as FoundStatement), name: basename(file) }));

/** Outcomes of the statements so far; many compared ones (`bound`) show that the random statements are useful. */
export type Outcomes = { bound: number; refused: number; unbound: number; invalid: number };

const LIMITS = { bytesMax: 2 ** 20, depthMax: 1_000 };
const CONTEXT = {
  nowMicros: '0',
  timeZone: 'UTC',
  currentUser: 'fuzz',
  currentCatalog: CATALOGS[0],
  currentSchema: SCHEMAS[0],
};
const WIDE_SPACE = /[\u00a0\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff]/;

/**
 * Compares the gate with a DuckDB that has the tables. DuckDB binds the original statement, and the gate's text, in which scans replace the
 * tables. Both plans must read the same tables and columns, and a statement that the gate accepts must read nothing but its scans.
 */
export class GateOracle {
  readonly outcomes: Outcomes = { bound: 0, refused: 0, unbound: 0, invalid: 0 };
  readonly #duckdb: DuckDBConnection;
  readonly #planner: Planner;
  readonly #prepare: PrepareQuery = queryPreparer({ cacheEntries: 1, cacheBytes: 2 ** 26 });
  readonly #tables: TableSource;

  private constructor(duckdb: DuckDBConnection, planner: Planner, tables: TableSource) {
    this.#duckdb = duckdb;
    this.#planner = planner;
    this.#tables = tables;
  }

  static async open(): Promise<GateOracle> {
    const instance = await DuckDBInstance.create(':memory:', { threads: '1', enable_external_access: 'false' });
    const duckdb = await instance.connect();
    const names = tableNames();
    const all: string[][] = [];
    for (const catalog of CATALOGS) {
      await duckdb.run(`ATTACH ':memory:' AS ${quoteIdentifier(catalog)}`);
      for (const schema of SCHEMAS) {
        const isCurrent = catalog === CATALOGS[0] && schema === SCHEMAS[0];
        const tables = (isCurrent ? names : [...names, ...INTERNAL]).map((name) => [catalog, schema, name]);
        const create = tables.map((parts) => `CREATE TABLE ${parts.map(quoteIdentifier).join('.')} (a INT)`);
        const inside = [catalog, schema].map(quoteIdentifier).join('.');
        await duckdb.run([`CREATE SCHEMA IF NOT EXISTS ${inside}`, ...create].join('; '));
        all.push(...tables);
      }
    }
    await duckdb.run(`USE ${CATALOGS[0]}.${SCHEMAS[0]}`);
    duckdb.registerTableFunction(scanFunction());
    const script = Object.fromEntries(all.map((parts) => [parts.join('.'), { columns: 'a int' }]));
    return new GateOracle(duckdb, await sessionPlanner(), scriptedTables(script));
  }

  /** Describes how the gate and DuckDB disagree about a text; null when they agree. */
  async difference(text: string): Promise<string | null> {
    const parsed = await this.#parse(text);
    let query: string;
    try {
      const statement = parseStatement(text, LIMITS);
      if (statement.command !== 'query') return this.#count('invalid');
      query = statement.input.query.text;
    } catch (thrown) {
      const { code, message } = SkeinError.of(thrown);
      this.#count('invalid');
      // DuckDB replaces wide spaces by rules of its own; the gate gives it a text without them, and may refuse one.
      const isAllowed = parsed === null || code === 'NOT_SUPPORTED' || WIDE_SPACE.test(text);
      return isAllowed ? null : `${code}: ${message}, but DuckDB parses it`;
    }
    const ofQuery = await this.#parse(query);
    // So may the parts of both differ.
    if (!WIDE_SPACE.test(text) && parsed !== ofQuery) return 'the gate cuts out another statement than DuckDB reads';
    // DuckDB refuses some escapes, whatever they stand for.
    if (ofQuery === null) return this.#count('invalid');
    if ((await this.#parse(respelled(query))) !== ofQuery) return 'the words of the gate are not those of DuckDB';
    return this.#compareNames(query);
  }

  async #compareNames(query: string): Promise<string | null> {
    const ofDuckdb = await this.#bind(query);
    let prepared: PreparedQuery;
    try {
      prepared = await this.#prepareQuery(query);
    } catch (thrown) {
      const { code, message } = SkeinError.of(thrown);
      this.#count('refused');
      const isAllowed =
        typeof ofDuckdb === 'string' || readsInternals(ofDuckdb) || REFUSALS.some((one) => one.test(message));
      return isAllowed ? null : `${code}: ${message}, but DuckDB binds it`;
    }
    const spliced = prepared.workerSql.map((part) =>
      typeof part === 'string' ? part : ` skein_scan('${'scan' in part ? part.scan : -1}')`,
    );
    const ours = await this.#bind(spliced.join(''));
    if (typeof ours === 'string') return `the gate's text does not bind: ${ours}`;
    const scans = icebergScans(prepared.scans).map(({ name }) =>
      tableKey([name.catalog, name.namespace.join('.'), name.table]),
    );
    const found = sourcesOf(ours).find((name) => name !== 'skein_scan' && !TABLE_FUNCTIONS.has(name));
    if (found !== undefined) return `the gate's text reads ${found}`;
    if (typeof ofDuckdb === 'string') {
      this.#count('unbound');
      return UNBOUND.test(ofDuckdb) ? null : `the gate lets it pass, but DuckDB: ${ofDuckdb}`;
    }
    this.#count('bound');
    const [wanted, got] = [JSON.stringify(comparable(ofDuckdb, scans)), JSON.stringify(comparable(ours, scans))];
    return wanted === got ? null : `DuckDB reads\n${wanted}\nand the gate\n${got}`;
  }

  #prepareQuery(sql: string): Promise<PreparedQuery> {
    const signal = AbortSignal.timeout(60_000);
    return this.#prepare({
      sql,
      offset: 0,
      context: CONTEXT,
      asker: SCRIPTED_ASKER,
      tables: tablesAlone(this.#tables),
      planner: this.#planner,
      signal,
    });
  }

  #count(outcome: keyof Outcomes): null {
    this.outcomes[outcome] += 1;
    return null;
  }

  /** The syntax tree of a text that is one query, without its places; null for any other. */
  async #parse(text: string): Promise<string | null> {
    if (text.includes('\0')) return null;
    const json = await this.#ask('SELECT json_serialize_sql($1::VARCHAR, skip_empty := true, skip_null := true)', text);
    const tree = JSON.parse(json) as JsonObject;
    if (tree['error'] === true || (tree['statements'] as readonly Json[]).length !== 1) return null;
    return json.replaceAll(/"query_location":\d+,?/g, '');
  }

  /** The plan as bound; the message of the error when it is not. */
  async #bind(text: string): Promise<JsonObject | string> {
    const json = await this.#ask(
      'SELECT json_serialize_plan($1::VARCHAR, optimize := false, skip_empty := true, skip_null := true)',
      text,
    );
    const tree = JSON.parse(json) as JsonObject;
    return tree['error'] === true
      ? textOf(tree['error_message'])
      : ((tree['plans'] as readonly JsonObject[])[0] ?? 'no plan');
  }

  async #ask(sql: string, text: string): Promise<string> {
    return String((await this.#duckdb.runAndReadAll(sql, [text])).getRows()[0]?.[0]);
  }
}

/**
 * Refusals of statements that DuckDB binds: DuckDB does not bind a common table expression that nothing reads, the gate resolves its names.
 */
const REFUSALS = [
  / does not exist(?:$|; did you mean )/,
  /^the (?:table )?function .* is not served(?:$|; did you mean )/s,
  /cannot be read where (?:a nearer table|something else) is called/,
  /^several tables are called /,
  /^the (?:name|alias) of a table is empty$/,
  // Binding is tried without values.
  /^the statement has parameters, but no values for them$/,
];
/** The gate may accept these although DuckDB does not bind them: names mean our tables before DuckDB's. */
const UNBOUND = /^Circular reference to CTE/;

/** The gate must refuse queries of DuckDB's own views. */
const readsInternals = (plan: JsonObject): boolean => sourcesOf(plan).some((name) => /^(?:duckdb_|pg_)/.test(name));

/** Every name, and its case forms in JavaScript, once for each name that DuckDB distinguishes. */
function tableNames(): readonly string[] {
  const all = NAMES.flatMap((name) => [name, name.toUpperCase(), name.toLowerCase()]);
  const isInternal = (name: string): boolean => INTERNAL.some((one) => one === foldIdentifier(name));
  return [...new Map(all.filter((name) => !isInternal(name)).map((name) => [foldIdentifier(name), name])).values()];
}

/** The text with one space between tokens, and plain quotes. */
function respelled(text: string): string {
  const tokens = new Tokenizer(text);
  let result = '';
  let at = 0;
  for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
    // Two strings without a space between them would become one.
    if (token.start > at || (token.kind === 'string' && result.endsWith("'"))) result += ' ';
    if (token.kind === 'string') result += quoteLiteral(stringText(text, token));
    else if (token.kind === 'quoted') result += quoteIdentifier(identifierText(text, token));
    else result += text.slice(token.start, token.end);
    at = token.end;
  }
  return result;
}

const childrenOf = (node: JsonObject): readonly JsonObject[] => (node['children'] ?? []) as readonly JsonObject[];

function sourcesOf(node: JsonObject): string[] {
  const own = node['type'] === 'LOGICAL_GET' ? [textOf(node['name'])] : [];
  return [...own, ...childrenOf(node).flatMap(sourcesOf)];
}

const tableKey = (parts: readonly unknown[]): string =>
  JSON.stringify(parts.map((part) => foldIdentifier(String(part))));

/** A plan without the differences between a table and the scan that replaces it. */
function comparable(value: Json, scans: readonly string[]): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((one) => comparable(one, scans));
  if (typeof value !== 'object' || value === null) return value;
  const node = value as JsonObject;
  if (node['type'] === 'LOGICAL_GET' && node['name'] === 'seq_scan') {
    const { catalog, schema, table } = node['function_data'] as JsonObject;
    return { table: tableKey([catalog, schema, table]) };
  }
  if (node['type'] === 'LOGICAL_GET' && node['name'] === 'skein_scan') {
    const [parameter] = node['parameters'] as readonly JsonObject[];
    return { table: scans[Number(parameter?.['value'])] ?? '' };
  }
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key]) => key !== 'query_location')
      .map(([key, one]) => [key, comparable(one, scans)]),
  );
}

function scanFunction(): DuckDBTableFunction {
  return DuckDBTableFunction.create({
    name: 'skein_scan',
    parameterTypes: [VARCHAR],
    supportsProjectionPushdown: true,
    bindFunction: (info) => info.addResultColumn('a', INTEGER),
    initFunction: (info) => info.setError('a scan is planned, never run'),
    mainFunction: (info) => info.setError('a scan is planned, never run'),
  });
}
