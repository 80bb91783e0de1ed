import { createRequire } from 'node:module';
import { untranslated, type Dialect, type Grammar } from './dialect.ts';

/** The part of node-sql-parser that is used; a grammar has some 200 KB and is loaded when it is first needed. */
type GrammarModule = {
  readonly Parser: new () => { astify(sql: string, options: { readonly database: string }): unknown };
};

const require = createRequire(import.meta.url);
const GRAMMARS: Readonly<Record<Grammar, () => unknown>> = {
  trino: () => require('node-sql-parser/build/trino'),
  postgresql: () => require('node-sql-parser/build/postgresql'),
  bigquery: () => require('node-sql-parser/build/bigquery'),
  mysql: () => require('node-sql-parser/build/mysql'),
};

/** Nodes of a syntax tree, and levels of it. */
const NODES_MAX = 50_000;
const DEPTH_MAX = 500;

/** Kinds of nodes that a translated query may have, as node-sql-parser names them. */
const NODE_TYPES: ReadonlySet<unknown> = new Set(
  `select column_ref expr default number bigint string single_quote_string backticks_quote_string double_quote_string bool null star
  binary_expr unary_expr aggr_func function cast case when else expr_list window tables date timestamp origin ASC DESC DISTINCT ALL asc desc`.split(
    /\s+/,
  ),
);

/**
 * Asks node-sql-parser whether a query is one of the dialect, and looks at the kinds of the nodes of its tree. The tree is not used for more:
 * it forgets brackets, and takes some operators for functions.
 * @throws NOT_SUPPORTED
 */
export function acceptGrammar(sql: string, dialect: Dialect): void {
  const refusals: Error[] = [];
  for (const grammar of dialect.grammars) {
    const refusal = refusalOf(sql, dialect, grammar);
    if (refusal === null) return;
    refusals.push(refusal);
  }
  throw refusals[0] ?? untranslated(dialect, 'no grammar');
}

function refusalOf(sql: string, dialect: Dialect, grammar: Grammar): Error | null {
  const { Parser } = GRAMMARS[grammar]() as GrammarModule;
  let tree: unknown;
  try {
    tree = new Parser().astify(sql, { database: grammar });
  } catch (error) {
    const position = offsetOf(error);
    return untranslated(dialect, 'its grammar', position === null ? undefined : { sql, position });
  }
  const list: readonly unknown[] = Array.isArray(tree) ? tree : [tree];
  const [query] = list;
  if (list.length !== 1 || typeOf(query) !== 'select') return untranslated(dialect, 'more than one query');
  const strange = strangeType(query);
  return strange === null ? null : untranslated(dialect, strange);
}

const typeOf = (node: unknown): unknown =>
  typeof node === 'object' && node !== null && 'type' in node ? node.type : undefined;

/** The first part of the tree that is not known or too large; null when there is none. */
function strangeType(tree: unknown): string | null {
  const open: { readonly node: unknown; readonly depth: number }[] = [{ node: tree, depth: 0 }];
  let count = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, depth } = next;
    if (typeof node !== 'object' || node === null) continue;
    count += 1;
    if (count > NODES_MAX || depth > DEPTH_MAX) return 'too many parts, or too deep ones';
    const type = typeOf(node);
    if (typeof type === 'string' && !NODE_TYPES.has(type)) return `a part of the kind ${type}`;
    for (const child of Object.values(node)) open.push({ node: child, depth: depth + 1 });
  }
  return null;
}

/** Where the parser stopped. */
function offsetOf(error: unknown): number | null {
  if (!(error instanceof Error) || !('location' in error)) return null;
  const { location } = error as { readonly location?: { readonly start?: { readonly offset?: unknown } } };
  const offset = location?.start?.offset;
  return typeof offset === 'number' ? offset : null;
}
