/** A column of a table or view by its numbers in Postgres' catalog. */
export type RelationColumn = { readonly oid: number; readonly column: number };
