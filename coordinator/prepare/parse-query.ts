import { asWritten } from '../resolver/name-statements.ts';
import type { PostgresType } from '../binding/pg-types.ts';
import type { NameDefaults, QueryReferences } from '../binding/query-references.ts';
import type { ParseRequest } from '../binding/planner.ts';
import type { TextSpan } from '../statement/statement.ts';
import type { ValuePlace } from '../statement/value-place.ts';
import type { Memory } from './memory.ts';
import type { PrepareRequest } from './prepare-request.ts';
import { queryTemplate, type QueryTemplate } from './query-template.ts';
import { referencesInTemplate, referencesInText } from './template-references.ts';

/** Longest query text, in characters, that is cached. */
export const CACHED_TEXT_MAX = 64 * 1024;

/** A query in which names replace its bracketed statements; `toStatement` maps a position in it to the client's statement. */
export type NamedQuery = PrepareRequest &
  Pick<ParseRequest, 'withoutValues'> & {
    readonly template: QueryTemplate | null;
    readonly values: readonly ValuePlace[];
    readonly toStatement: (character: number) => number;
    /** The types of its columns in Postgres, when it was written anew. */
    readonly types: readonly (PostgresType | undefined)[] | null;
    /** The view whose query stands at a position of `sql`. */
    readonly viewAt: (character: number) => string | undefined;
  };

export const ownerOf = ({ asker }: PrepareRequest): string => JSON.stringify([asker.tenant, asker.principal]);

export const templateOf = (sql: string): QueryTemplate | null =>
  sql.length > CACHED_TEXT_MAX ? null : queryTemplate(sql);

/** The references of a query, which are kept by its template. */
export async function parseQuery(
  request: NamedQuery,
  defaults: NameDefaults,
  memory: Memory<QueryReferences>,
): Promise<QueryReferences> {
  const { sql, template, values, context, asker, planner, signal, withoutValues = false } = request;
  const asked = { sql, defaults, context, withoutValues, values };
  if (sql.length > CACHED_TEXT_MAX) return planner.parse(asked, asker, signal);
  const literals = template?.literals ?? [];
  const key = JSON.stringify([asker.tenant, template?.key ?? sql, defaults.catalog, defaults.schema]);
  const known = memory.get(key);
  if (known !== undefined) return referencesInText(known, literals);
  const ownKey = JSON.stringify([asker.tenant, null, sql, defaults.catalog, defaults.schema]);
  const own = values.length === 0 ? memory.get(ownKey) : undefined;
  if (own !== undefined) return own;
  const references = await planner.parse(asked, asker, signal);
  // A computed value of a time travel may depend on the context (`now()`, the time zone).
  const isFixed = references.tables.every(({ at }) => at === null || at.isLiteral);
  if (!isFixed) return references;
  if (references.names.length === 0) memory.set(ownerOf(request), key, referencesInTemplate(references, literals));
  // The literals and the parameters are in the names.
  else if (values.length === 0) memory.set(ownerOf(request), ownKey, references);
  return references;
}

/**
 * The references with the statements and stages as they were written in the names of columns. A query with such names shares no template: other
 * literals would be in them.
 */
export function shownNames(
  references: QueryReferences,
  query: NamedQuery,
  statements: ReadonlyMap<string, TextSpan>,
): { readonly references: QueryReferences; readonly query: NamedQuery } {
  if (references.names.length === 0) return { references, query };
  const names = references.names.map(({ location, name }) => ({ location, name: asWritten(name, statements) }));
  return { references: { ...references, names }, query: { ...query, template: null } };
}
