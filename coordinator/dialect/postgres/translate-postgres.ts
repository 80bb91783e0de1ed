import { parse } from 'libpg-query';
import { SkeinError } from '#shared/error.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { pgRelation, pgRelationNumber } from '../../binding/pg-relations.ts';
import { schemaViewOf } from '../../binding/schema-views.ts';
import type { PostgresRequest, PostgresText } from '../../binding/planner.ts';
import { writeQuery } from './queries.ts';
import { isObject, NotRead } from './tree.ts';

/**
 * Writes a query of Postgres' dialect in DuckDB's, by its syntax tree; one that Postgres' parser does not take, or that has what is not written
 * anew, stays as it is. The text may be hostile: this runs in a planner process. Places are byte offsets in the text.
 * @throws TABLE_NOT_FOUND, FUNCTION_NOT_FOUND, TYPE_NOT_FOUND for names of Postgres' catalog that are not there, NOT_SUPPORTED for those of another
 * catalog than the session's
 */
export async function translatePostgres({ sql, values, catalog }: PostgresRequest): Promise<PostgresText | null> {
  const tree = await treeOf(sql);
  const statements = tree?.['stmts'];
  if (!Array.isArray(statements) || statements.length !== 1) return null;
  const [first] = statements as readonly Json[];
  const statement = isObject(first) ? first['stmt'] : undefined;
  const query = isObject(statement) ? statement['SelectStmt'] : undefined;
  if (!isObject(query)) return null;
  const byStart = new Map(values.map((value) => [value.from, value]));
  let count = 0;
  const place = {
    relations: (schema: string, name: string) =>
      isOurs(schema, name)
        ? undefined
        : pgRelation(schema, name)?.columns.map(([column, type]) => ({ name: column, type })),
    catalog,
    numberOf: pgRelationNumber,
    valueAt: (start: number) => byStart.get(start),
    fresh: () => `skein_${(count += 1)}`,
  };
  try {
    const { sql: parts, columns } = writeQuery(query, null, place, 'result');
    return { parts, columns };
  } catch (error) {
    if (error instanceof NotRead) return null;
    throw error;
  }
}

/** The views of INFORMATION_SCHEMA that every door has have columns of their own. */
const isOurs = (schema: string, name: string): boolean =>
  schema === 'information_schema' && schemaViewOf(name) !== undefined;

async function treeOf(sql: string): Promise<JsonObject | undefined> {
  try {
    return (await parse(sql)) as unknown as JsonObject;
  } catch (error) {
    // The parser's own memory may be spoilt by a text that has ended it.
    if (error instanceof RangeError || (error instanceof Error && error.name === 'RuntimeError')) {
      throw new SkeinError('STATEMENT_TOO_COMPLEX', 'the statement is too deeply nested', { cause: error });
    }
    return undefined;
  }
}
