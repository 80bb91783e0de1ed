import { printJson, type Json, type JsonObject } from '#shared/json.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { textOf } from '../../plan/json-node.ts';
import type { Plan } from '../../plan/plan.ts';
import { NotPrintable } from './not-printable.ts';
import { printSqlExpression, printSqlList } from './print-sql-expression.ts';
import { printSqlLiteral } from './print-sql-literal.ts';
import { joinSql, sql } from './print-sql-parts.ts';
import {
  closeRelation,
  joinOf,
  operand,
  pickColumns,
  selectFrom,
  bareTable,
  tableRelation,
  wrapQuery,
  type Names,
  type SqlRelation,
} from './print-sql-relation.ts';

type Node<Kind extends Plan['kind']> = Extract<Plan, { kind: Kind }>;

/** The column that `count(*)` reads from a table. */
export const EMPTY_COLUMN = 'CAST(NULL AS BOOLEAN)';

/** A table function; `rows` is its input, if it takes rows. */
export function printSqlGenerator(plan: Node<'generator'>, rows: SqlRelation | null, free: Names): SqlRelation {
  const { inputArguments = 0 } = plan;
  const width = Math.max(0, ...plan.columns.map((column) => column.index + 1));
  const aliases = width === 0 ? '' : `(${Array.from({ length: width }, (_, i) => `c${i}`).join(', ')})`;
  const ordinality = plan.ordinality === true ? ' WITH ORDINALITY' : '';
  const call = (given: readonly string[]): string => {
    const named = (plan.named ?? []).map(
      ({ name, expression }) => `${quoteIdentifier(name)} := ${printSqlExpression(expression, [])}`,
    );
    return `${quoteIdentifier(plan.name)}(${[...given, ...named].join(', ')})${ordinality}`;
  };
  const own = (name: string): string[] =>
    plan.columns.map((column) => (column.index < 0 ? EMPTY_COLUMN : `${name}.c${column.index}`));
  if (rows === null) {
    const name = free.next('t');
    const given = plan.arguments.map((one) => printSqlExpression(one, []));
    return { ...bareTable([`${call(given)} AS ${name}${aliases}`]), columns: own(name) };
  }
  const input = operand(rows, free);
  const name = free.next('t');
  const given = input.columns.slice(0, inputArguments);
  const from = sql`${input.from} CROSS JOIN LATERAL ${call(given)} AS ${name}${aliases}`;
  return { ...joinOf(from), columns: [...own(name), ...pickColumns(input.columns, plan.inputColumns)] };
}

/** Constant rows; with `input`, one row per list of expressions for each of its rows. */
export function printSqlValues(plan: Node<'values'>, input: SqlRelation | null, free: Names): SqlRelation {
  const width = plan.columns.length;
  if (plan.rows.length === 0) {
    const columns = plan.columns.map(({ type }, i) => `${printSqlLiteral(null, type)} AS c${i}`);
    return wrapQuery([`SELECT ${columns.join(', ')} WHERE false`], width, free);
  }
  if (input !== null) {
    const rows = plan.rows.map((row) =>
      selectFrom(
        input,
        row.map((one) => printSqlExpression(one, input.columns)),
      ),
    );
    return wrapQuery(joinSql(rows, ' UNION ALL '), width, free);
  }
  const name = free.next('t');
  const rows = plan.rows.map((row) => `(${printSqlList(row, ['CAST(NULL AS INTEGER)'])})`);
  const aliases = plan.columns.map((_, i) => `c${i}`).join(', ');
  return tableRelation([`(VALUES ${rows.join(', ')}) AS ${name}(${aliases})`], name, width);
}

export function printSqlSample(plan: Node<'sample'>, input: SqlRelation, free: Names): SqlRelation {
  const options = plan.options as JsonObject;
  const size = sampleSize(options['sample_size']);
  const method = textOf(options['method']).toLowerCase();
  const unit = options['is_percentage'] === true ? 'PERCENT' : 'ROWS';
  const hasSeed = options['seed'] !== undefined && Number(options['seed']) >= 0;
  const seed = !hasSeed ? '' : ` REPEATABLE (${printJson(options['seed'])})`;
  const { from, ...relation } = wrapQuery(closeRelation(input), input.columns.length, free);
  return { ...relation, from: sql`${from} TABLESAMPLE ${method} (${size} ${unit})${seed}` };
}

function sampleSize(json: Json | undefined): string {
  const value = (json as JsonObject | undefined)?.['value'];
  if (typeof value !== 'number' && typeof value !== 'bigint') throw new NotPrintable('the size of a sample');
  return String(value);
}
