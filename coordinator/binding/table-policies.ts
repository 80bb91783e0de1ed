/**
 * The row-access and masking policies that the catalog names for a table and its reader. A plan that was made with them holds for no other
 * version, and, unless there are none, for no other principal. A table that has any is refused, because no reader applies them yet.
 */
export type TablePolicies = { readonly version: string; readonly policies: readonly never[] };

/** The rows of a statement need no policies: they hold only what the caller may see. */
export const NO_POLICIES: TablePolicies = { version: 'none', policies: [] };
