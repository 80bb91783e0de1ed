import type * as duckdb from '@duckdb/node-api';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import type { Json } from '#shared/json.ts';
import type { GivenName } from '../binding/query-references.ts';
import type { ParseRequest } from '../binding/planner.ts';
import { isSameButNamed, unnamedColumns, type ItemSpan } from '../resolver/unnamed-columns.ts';
import { parameterSql } from '../statement/value-place.ts';

/** A macro that drops its argument: DuckDB names the column of a call by the argument's text, and binds nothing of it. */
const MACRO = 'skein_column_name';
export const COLUMN_NAME_MACRO = `CREATE TEMP MACRO ${MACRO}(a) AS NULL`;
/** Characters of all names that are found for one text: those of nested queries have one another in them. */
const NAMES_TEXT_MAX = 2 ** 18;

/**
 * The names that DuckDB gives to columns whose texts will be changed before DuckDB binds them. `tree` is the syntax tree of the text, and
 * `parse` makes that of another; a name that would change what the text means is left out, with all others. The binder has the macro.
 */
export async function columnNames(
  { sql, values = [] }: Pick<ParseRequest, 'sql' | 'values'>,
  tree: Json,
  { binder, parse }: { readonly binder: duckdb.DuckDBConnection; readonly parse: (sql: string) => Promise<Json> },
): Promise<readonly GivenName[]> {
  const items = unnamedColumns(tree, sql);
  if (items.length === 0) return [];
  const textOf = ({ start, end }: ItemSpan): string => {
    const inside = values.filter((value) => value.start >= start && value.end <= end);
    return inside
      .toSorted((a, b) => b.start - a.start)
      .reduce(
        (text, value) => text.slice(0, value.start - start) + parameterSql(value) + text.slice(value.end - start),
        sql.slice(start, end),
      );
  };
  const named: (ItemSpan & { readonly name: string })[] = [];
  let length = 0;
  for (const item of items) {
    const name = await nameOf(binder, textOf(item));
    if (name === null) continue;
    length += name.length;
    if (length > NAMES_TEXT_MAX) return [];
    named.push({ ...item, name });
  }
  const aliased = named
    .toSorted((a, b) => b.end - a.end)
    .reduce((text, { end, name }) => `${text.slice(0, end)} AS ${quoteIdentifier(name)}${text.slice(end)}`, sql);
  const isSame = isSameButNamed(tree, await parse(aliased).catch(() => null));
  return isSame ? named.map(({ end, name }) => ({ location: Buffer.byteLength(sql.slice(0, end)), name })) : [];
}

/** Null for a text that is no expression. */
async function nameOf(binder: duckdb.DuckDBConnection, text: string): Promise<string | null> {
  const head = `${MACRO}(`;
  try {
    const prepared = await binder.prepare(`SELECT ${head}${text}\n)`);
    try {
      const name = prepared.columnCount === 1 ? prepared.columnName(0) : '';
      return name.startsWith(head) && name.endsWith(')') ? name.slice(head.length, -1) : null;
    } finally {
      prepared.destroySync();
    }
  } catch {
    return null;
  }
}
