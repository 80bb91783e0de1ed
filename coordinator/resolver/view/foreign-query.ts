import { SkeinError } from '#shared/error.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { dialectOf, untranslated, type Dialect } from '../../dialect/dialect.ts';
import type { CompareReply, CompareRequest, TranslateRequest } from '../../binding/planner.ts';
import { fieldType } from '../../plan/iceberg-sql-type.ts';
import { noDialect, ownRepresentation, schemaOf, type ViewDefinition } from '../../binding/view-definition.ts';

export type ForeignViews = {
  /** As `Planner.translate`. */
  readonly translate: (request: TranslateRequest) => Promise<string>;
  /** As `Planner.compare`, for a text whose names have all their parts and are those of tables. */
  readonly compare: (sql: string, wanted: Pick<CompareRequest, 'dialect' | 'types'>) => Promise<CompareReply>;
};

/** The view's query, in our dialect. `dialect` is that of another engine, from which it was translated. */
type ReadableQuery = { readonly sql: string; readonly dialect: Dialect | null };

/** @throws NOT_SUPPORTED for a query that is not translated, with the dialect's name and the place in the view's text */
export async function readableQuery(view: ViewDefinition, { translate }: ForeignViews): Promise<ReadableQuery> {
  const own = ownRepresentation(view);
  if (own !== undefined) return { sql: own.sql, dialect: null };
  for (const { dialect: name, sql } of view.representations) {
    const dialect = dialectOf(name);
    if (dialect !== undefined) return { sql: await translate({ sql, dialect: dialect.name }), dialect };
  }
  throw noDialect(view);
}

/**
 * Checks that a translated query computes what its engine computes, over the types that its tables have now.
 * @throws NOT_SUPPORTED when it does not, INVALID_VIEW when it has other columns than the view by now
 */
export async function checkMeaning(
  view: ViewDefinition,
  dialect: Dialect,
  sql: string,
  { compare }: ForeignViews,
): Promise<void> {
  const types = schemaOf(view).fields.map((field) => fieldType(field).type);
  const { columns, different } = await compare(sql, { dialect: dialect.name, types });
  if (columns !== types.length) {
    const message = `its ${dialect.name} query has ${columns} columns by now, and the view ${types.length}`;
    throw new SkeinError('INVALID_VIEW', message);
  }
  if (different !== null) throw untranslated(dialect, different);
}

/** The query's columns under the names of the view's: other engines match them by their places. */
export const underNames = (view: ViewDefinition, sql: string): string =>
  `SELECT * FROM (${sql}\n) AS "v"(${schemaOf(view)
    .fields.map(({ name }) => quoteIdentifier(name))
    .join(', ')})`;
