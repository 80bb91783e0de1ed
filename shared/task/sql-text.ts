/**
 * SQL with placeholders: tables are indexes into `TaskSpec.scans`, outputs of other tasks are indexes into `TaskSpec.inputs`. Only the
 * worker knows how to print them (local paths, deletes; table functions, temporary tables).
 */
export type SqlText = readonly (string | { readonly scan: number } | { readonly input: number })[];
