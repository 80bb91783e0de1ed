import { SkeinError } from '#shared/error.ts';
import { printJson } from '#shared/json.ts';
import { jsonRows } from '../sink/json-rows.ts';
import type { FoundReferences } from '../binding/query-references.ts';
import { PLAN_TEXT_MAX, sumUp } from '../binding/large-plan.ts';
import type { PlanReply, PlanRequest } from '../binding/planner.ts';
import type { SqlField } from '../plan/sql-type.ts';

/** Tables, and columns with the name of a table, that a query names: each is resolved by the coordinator. */
const TABLES_MAX = 1_000;
const QUALIFIED_COLUMNS_MAX = 10_000;
/** Characters of the names and types of a result, and of the SQL that prints its rows. */
const COLUMNS_TEXT_MAX = 2 ** 20;
const ROWS_SQL_MAX = 4 * 2 ** 20;

const tooMuch = (what: string): SkeinError => new SkeinError('STATEMENT_TOO_COMPLEX', what);

/** @throws STATEMENT_TOO_COMPLEX */
export function checkReferences({ tables, columns }: FoundReferences): void {
  if (tables.length > TABLES_MAX) throw tooMuch(`the statement names more than ${TABLES_MAX} tables`);
  if (columns.length > QUALIFIED_COLUMNS_MAX) {
    throw tooMuch(`the statement names more than ${QUALIFIED_COLUMNS_MAX} columns with their table`);
  }
}

/** Called before the plan is made, because many columns take DuckDB long. @throws STATEMENT_TOO_COMPLEX */
export function checkResult(columns: readonly SqlField[]): void {
  const rows = jsonRows([], columns, 'many');
  const rowsSql = rows.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : 0), 0);
  if (rowsSql > ROWS_SQL_MAX) throw tooMuch('the result has too many columns or fields');
  if (printJson(columns).length > COLUMNS_TEXT_MAX) {
    throw tooMuch(`the names and types of the result are longer than ${COLUMNS_TEXT_MAX} characters`);
  }
}

/** Prints the reply as JSON, with exact integers; a plan that is too long for the coordinator's main thread is replaced by its summary. */
export function printReply(reply: PlanReply, { scans }: PlanRequest): string {
  const text = printJson(reply);
  if (reply.plan === null || text.length <= PLAN_TEXT_MAX) return text;
  return printJson({ ...reply, plan: null, large: sumUp(reply.plan, scans) });
}
