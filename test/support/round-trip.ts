import type { DuckDBConnection, DuckDBType } from '@duckdb/node-api';
import { spliceTables, plannerSql } from '#coordinator/resolver/splice-tables.ts';
import { SCRIPTED_ASKER } from './scripted/tables.ts';
import { NotPrintable } from '#coordinator/distributor/print/not-printable.ts';
import { printPlan } from '#coordinator/distributor/print/print-plan.ts';
import type { Plan } from '#coordinator/plan/plan.ts';
import type { Planner, PlannerScan } from '#coordinator/binding/planner.ts';
import { fromDuckDbType } from '#coordinator/planner/duckdb-type-of.ts';
import { outputFields } from '#coordinator/plan/plan-schema.ts';
import { walkPlan } from '#coordinator/plan/plan-tree.ts';
import { printSqlType } from '#coordinator/plan/sql-type.ts';
import { must } from '#shared/must.ts';
import { printJson, type Json } from '#shared/json.ts';
import { contextSetupSql, contextVariablesSql } from '#shared/sql/statement-context.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { apiValue } from '#test/slt/duckdb-engine.ts';
import { differences } from './compare-rows.ts';
import { patience } from '#test/support/run/slowness.ts';

/**
 * Tests the SQL printer: Skein plans a query and prints the plan as SQL, and one plain DuckDB runs both texts over the same tables. The
 * rows must be the same as bags, and in the same order as far as a final sort's keys decide it.
 */
export type RoundTrip = {
  readonly kind: 'same' | 'bothFail' | 'differs' | 'notPrintable' | 'noPlan' | 'fails';
  /** The difference, the errors, or why it is not printable. */
  readonly message: string;
  /** The printed text. */
  readonly sql: string;
};

const CONTEXT = {
  nowMicros: '1708000000123456',
  timeZone: 'UTC',
  currentUser: "o'hara",
  currentCatalog: 'memory',
};

/** Sets the context, so that both texts have the same time and user. */
export async function setRoundTripContext(connection: DuckDBConnection, schema: string): Promise<void> {
  const context = { ...CONTEXT, currentSchema: schema };
  for (const sql of [...contextSetupSql, ...contextVariablesSql(context)]) await connection.run(sql);
}

/** @throws what DuckDB's binder says of the query */
export async function roundTrip(
  sql: string,
  tools: { readonly connection: DuckDBConnection; readonly planner: Planner; readonly schema: string },
): Promise<RoundTrip> {
  const { connection } = tools;
  const { plan, tables } = await planOf(sql, tools);
  if (plan === null) return { kind: 'noPlan', message: 'DuckDB prints no plan', sql: '' };
  let text: string;
  try {
    text = printed(plan, tables);
  } catch (error) {
    if (!(error instanceof NotPrintable)) throw error;
    return { kind: 'notPrintable', message: error.reason, sql: '' };
  }
  const [wanted, got] = [await run(connection, sql), await run(connection, text)];
  if (wanted.error !== null || got.error !== null) {
    const both = wanted.error !== null && got.error !== null;
    return {
      kind: both ? 'bothFail' : 'fails',
      message: `${wanted.error ?? 'rows'} / ${got.error ?? 'rows'}`,
      sql: text,
    };
  }
  const types =
    printJson(wanted.types) === printJson(got.types)
      ? null
      : `types ${got.types.join()} expected ${wanted.types.join()}`;
  const rows = differences(sorted(got.rows), sorted(wanted.rows));
  const ordered = endsInSort(plan) ? differences(got.rows, wanted.rows) : null;
  const message =
    types ?? (await wrongNode(plan, tables, connection)) ?? rows ?? (ordered === null ? null : `order: ${ordered}`);
  return { kind: message === null ? 'same' : 'differs', message: message ?? '', sql: text };
}

/** Finds a part of the plan that, printed alone, has other column types than the plan says; a fragment could be cut there. */
async function wrongNode(plan: Plan, tables: readonly string[], connection: DuckDBConnection): Promise<string | null> {
  for (const node of walkPlan(plan)) {
    if (node === plan || [...walkPlan(node)].some(({ kind }) => kind === 'cteScan' || kind === 'delimScan')) continue;
    const text = printable(node, tables);
    if (text === null) continue;
    const prepared = await connection.prepare(text);
    const given = Array.from({ length: prepared.columnCount }, (_, i) =>
      printSqlType(fromDuckDbType(prepared.columnType(i))),
    );
    prepared.destroySync();
    const wanted = outputFields(node).map(({ type }) => printSqlType(type));
    if (given.join() !== wanted.join()) return `${node.kind}: types ${given.join()} expected ${wanted.join()}\n${text}`;
  }
  return null;
}

function printable(plan: Plan, tables: readonly string[]): string | null {
  try {
    return printed(plan, tables);
  } catch (error) {
    if (error instanceof NotPrintable) return null;
    throw error;
  }
}

const printed = (plan: Plan, tables: readonly string[]): string =>
  printPlan(plan, { scan: ({ scan }) => scan, stage: () => 0 })
    .map((part) => (typeof part === 'string' ? part : must('scan' in part ? tables[part.scan] : null, 'a table')))
    .join('');

export async function planOf(
  sql: string,
  {
    connection,
    planner,
    schema,
  }: { readonly connection: DuckDBConnection; readonly planner: Planner; readonly schema: string },
): Promise<{ readonly plan: Plan | null; readonly tables: readonly string[]; readonly names: readonly string[] }> {
  const context = { ...CONTEXT, currentSchema: schema };
  const references = await planner.parse(
    { sql, defaults: { catalog: 'memory', schema }, context },
    SCRIPTED_ASKER,
    signal(),
  );
  const spliced = spliceTables(sql, references);
  const tables = references.tables.map(({ parts }) =>
    (parts.length === 1 ? [schema, ...parts] : parts).map(quoteIdentifier).join('.'),
  );
  const scans: PlannerScan[] = [];
  for (const table of tables) {
    const prepared = await connection.prepare(`FROM ${table}`);
    const columns = Array.from({ length: prepared.columnCount }, (_, i) => ({
      name: prepared.columnName(i),
      type: fromDuckDbType(prepared.columnType(i)),
    }));
    const count = await connection.runAndReadAll(`SELECT count(*)::INTEGER FROM ${table}`);
    scans.push({ columns, fields: [], rowCount: Number(count.getRows()[0]?.[0]) });
  }
  const reply = await planner.plan(
    { sql: plannerSql(spliced), scans, context, contextual: true },
    SCRIPTED_ASKER,
    signal(),
  );
  return { plan: reply.plan, tables, names: reply.columns.map(({ name }) => name) };
}

const signal = (): AbortSignal => AbortSignal.timeout(patience(60_000));

type Answer = {
  readonly rows: readonly (readonly Json[])[];
  readonly types: readonly string[];
  readonly error: string | null;
};

async function run(connection: DuckDBConnection, sql: string): Promise<Answer> {
  try {
    const result = await connection.runAndReadAll(sql);
    const types: readonly DuckDBType[] = result.columnTypes();
    const rows = result.getRows().map((row) => row.map((value, i) => apiValue(value, types[i])));
    return { rows, types: types.map(String), error: null };
  } catch (error) {
    return { rows: [], types: [], error: error instanceof Error ? error.message : String(error) };
  }
}

/** Sorts rows by values with doubles rounded to nine digits, so that rows that differ only in the last digits get the same place. */
const sorted = (rows: readonly (readonly Json[])[]): readonly (readonly Json[])[] =>
  rows
    .map((row) => ({
      row,
      key: printJson(row.map((value) => (typeof value === 'number' ? value.toPrecision(9) : value))),
    }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ row }) => row);

function endsInSort(plan: Plan): boolean {
  if (plan.kind === 'project' || plan.kind === 'limit') return endsInSort(plan.child);
  return plan.kind === 'sort';
}
