import type { DuckDBConnection } from '@duckdb/node-api';
import { parseJson, printJson, type Json } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';
import { DuckdbEngine } from '#test/slt/duckdb-engine.ts';
import { bagDifferences, differences } from './compare-rows.ts';

type Rows = readonly (readonly Json[])[];

/**
 * DuckDB's answer, ordered as far as the statement asks for it: rows with equal ORDER BY keys form one group, and the groups are in order.
 * Without ORDER BY all rows form one group.
 */
export type OrderedAnswer = { readonly groups: readonly Rows[]; readonly ordered: boolean };

/**
 * Runs the statement on DuckDB; ORDER BY keys that are no columns of its result become further columns. @throws Error with DuckDB's message
 */
export async function orderedAnswer(connection: DuckDBConnection, sql: string): Promise<OrderedAnswer> {
  const tree = await parsed(connection, sql);
  const node = must(tree.statements[0], 'a statement').node;
  const orders = node.modifiers.find(({ type }) => type === 'ORDER_MODIFIER')?.orders ?? [];
  const names = await columnNames(connection, sql);
  const added: Expression[] = [];
  const keys = orders.map(
    ({ expression }) => outputColumn(expression, names) ?? names.length + added.push(expression) - 1,
  );
  const text = added.length === 0 ? sql : await withColumns(connection, tree, added);
  const answer = await new DuckdbEngine(connection).run(text);
  if (answer.kind === 'error') throw new Error(answer.message);
  const rows = answer.rows.map((row) => ({ row: row.slice(0, names.length), key: keys.map((at) => row[at] ?? null) }));
  const groups: { readonly rows: (readonly Json[])[]; readonly key: readonly Json[] }[] = [];
  for (const { row, key } of rows) {
    const last = groups.at(-1);
    if (last !== undefined && differences([key], [last.key]) === null) last.rows.push(row);
    else groups.push({ rows: [row], key });
  }
  return { groups: groups.map((group) => group.rows), ordered: orders.length > 0 };
}

/** Describes the rows that differ from the answer, or stand at a place that their keys do not allow; null when there are none. */
export function orderDifferences(actual: Rows, { groups }: OrderedAnswer): string | null {
  const bag = bagDifferences(actual, groups.flat());
  if (bag !== null) return bag;
  let start = 0;
  for (const group of groups) {
    const difference = bagDifferences(actual.slice(start, start + group.length), group);
    if (difference !== null) return `order, from row ${start}: ${difference}`;
    start += group.length;
  }
  return null;
}

/** The parts of DuckDB's syntax tree (`json_serialize_sql`) that matter here; all else is handed back as it came. */
type Expression = {
  readonly class: string;
  readonly column_names?: readonly string[];
  readonly value?: { readonly value: unknown };
};
type Modifier = { readonly type: string; readonly orders?: readonly { readonly expression: Expression }[] };
type SyntaxTree = {
  readonly error: boolean;
  readonly error_message?: string;
  readonly statements: readonly {
    readonly node: { readonly modifiers: readonly Modifier[]; readonly select_list?: Expression[] };
  }[];
};

async function parsed(connection: DuckDBConnection, sql: string): Promise<SyntaxTree> {
  const text = await oneText(connection, `SELECT json_serialize_sql(${quoteLiteral(sql)})`);
  const tree = parseJson(text) as unknown as SyntaxTree;
  if (tree.error) throw new Error(tree.error_message);
  return tree;
}

async function oneText(connection: DuckDBConnection, sql: string): Promise<string> {
  const text = (await connection.runAndReadAll(sql)).getRows()[0]?.[0];
  if (typeof text !== 'string') throw new Error(`no text: ${sql.slice(0, 200)}`);
  return text;
}

async function columnNames(connection: DuckDBConnection, sql: string): Promise<readonly string[]> {
  const prepared = await connection.prepare(sql);
  const names = Array.from({ length: prepared.columnCount }, (_, i) => prepared.columnName(i).toLowerCase());
  prepared.destroySync();
  return names;
}

/** The column of the result that a key refers to, by number or by name; such a name comes before that of a table's column. */
function outputColumn(
  { class: kind, value, column_names: path = [] }: Expression,
  names: readonly string[],
): number | undefined {
  if (kind === 'CONSTANT') return Number(value?.value) - 1;
  const at = kind === 'COLUMN_REF' && path.length === 1 ? names.indexOf((path[0] ?? '').toLowerCase()) : -1;
  return at === -1 ? undefined : at;
}

async function withColumns(
  connection: DuckDBConnection,
  tree: SyntaxTree,
  added: readonly Expression[],
): Promise<string> {
  const list = must(tree.statements[0]?.node.select_list, 'keys beside the columns need a SELECT list');
  list.push(...added);
  return oneText(connection, `SELECT json_deserialize_sql(${quoteLiteral(printJson(tree))}::JSON)`);
}
