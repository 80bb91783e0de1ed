/** A condition that was added to a scan while the query ran. */
export type AppliedFilter = {
  /** Qualified name of the column: `catalog.namespace.table.column`. */
  readonly column: string;
  /** The stage whose keys it is made of. */
  readonly stage: number;
  /** The filter in words, with the bounds of its keys. */
  readonly text: string;
};
