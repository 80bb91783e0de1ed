import { SkeinError } from '#shared/error.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { textOf } from '../plan/json-node.ts';
import { type PartText, LIST_SOURCE, type PartRefusal } from './part-text.ts';

/** Checks that the parts of a text are what they stand for. @param tree the text's syntax tree by `json_serialize_sql` */
export function partRefusal({ kind, count }: PartText, tree: Json): PartRefusal | null {
  const statements = (tree as JsonObject)['statements'] as readonly JsonObject[];
  const node = statements[0]?.['node'] as JsonObject | undefined;
  if (node === undefined || statements.length !== 1) return refusal('only one statement at a time', 0);
  if (kind === 'query') return null;
  const from = node['from_table'] as JsonObject | undefined;
  const columns = (node['select_list'] ?? []) as readonly JsonObject[];
  if (!isPlain(node, kind) || from === undefined) return refusal(CLAUSE[kind], 0);
  if (kind === 'list') return from['table_name'] === LIST_SOURCE ? null : refusal(CLAUSE.list, 0);
  if (kind === 'tables') return from['type'] !== 'EMPTY' && columns.length === 1 ? null : refusal(CLAUSE.tables, 0);
  const rows = from['type'] === 'EXPRESSION_LIST' ? (from['values'] as readonly (readonly Json[])[]) : [];
  if (rows.length !== count) return refusal(CLAUSE.expressions, null);
  for (const [part, row] of rows.entries()) {
    const found = row.length === 1 ? manyValues(row[0], undefined) : { message: CLAUSE.expressions, at: undefined };
    if (found !== null) return refusal(found.message, part, found.at);
  }
  return null;
}

const CLAUSE: Readonly<Record<Exclude<PartText['kind'], 'query'>, string>> = {
  expressions: 'one expression stands here',
  tables: 'only tables stand here: the statement has no other clause of a query',
  list: 'only a list of expressions stands here: the statement has no other clause of a query',
};

/** Members of a SELECT that hold a clause. WHERE ends a list of tables. */
const CLAUSES = ['modifiers', 'group_expressions', 'group_sets', 'having', 'sample', 'qualify'] as const;

/** Whether a query is a SELECT of a list and FROM alone. */
function isPlain(node: JsonObject, kind: PartText['kind']): boolean {
  const ctes = (node['cte_map'] as JsonObject | undefined)?.['map'];
  if (node['type'] !== 'SELECT_NODE' || (Array.isArray(ctes) && ctes.length > 0)) return false;
  if (node['aggregate_handling'] !== 'STANDARD_HANDLING') return false;
  const clauses = kind === 'tables' ? CLAUSES : (['where_clause', ...CLAUSES] as const);
  return clauses.every((name) => {
    const clause = node[name];
    return clause === null || clause === undefined || (Array.isArray(clause) && clause.length === 0);
  });
}

/** Functions that give a row for each element of a list. */
const ROWS: ReadonlySet<string> = new Set(['unnest', 'unlist']);

type ManyValues = { readonly message: string; readonly at: number | undefined };

/** Finds what makes an expression stand for several values; in a subquery anything may stand. */
function manyValues(value: Json | undefined, outer: number | undefined): ManyValues | null {
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value)) return firstOf(value as readonly Json[], outer);
  const node = value as JsonObject;
  const at = typeof node['query_location'] === 'number' ? node['query_location'] : outer;
  const kind = node['class'];
  if (kind === 'STAR') {
    const what = node['columns'] === true ? 'COLUMNS' : 'a star';
    return { message: `${what} stands for several columns, and one value is wanted here`, at };
  }
  if (kind === 'FUNCTION' && ROWS.has(foldIdentifier(textOf(node['function_name'])))) {
    return { message: 'unnest() gives several rows, and one value is wanted here', at };
  }
  const children = Object.entries(node).filter(([name]) => kind !== 'SUBQUERY' || name !== 'subquery');
  return firstOf(
    children.map(([, child]) => child),
    at,
  );
}

function firstOf(values: readonly Json[], at: number | undefined): ManyValues | null {
  for (const value of values) {
    const found = manyValues(value, at);
    if (found !== null) return found;
  }
  return null;
}

const refusal = (message: string, part: number | null, position?: number): PartRefusal => ({
  error: new SkeinError('SYNTAX_ERROR', message, { position }).toData(),
  part,
});
