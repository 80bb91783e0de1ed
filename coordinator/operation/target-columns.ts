/** How the columns of an INSERT's query find theirs of the table. */
export type TargetColumns =
  | { readonly kind: 'position' }
  | { readonly kind: 'list'; readonly names: readonly ColumnName[] }
  | { readonly kind: 'name' }
  /** DEFAULT VALUES: no column of the query is used. */
  | { readonly kind: 'defaults' };

export type ColumnName = { readonly name: string; readonly position: number };
