/**
 * A policy between a table and one reader of it, as the catalog names it. Its SQL is over the table's columns and is the policy's own: the
 * reader's rights, settings and names change nothing in it. Whoever reads the table's rows applies all of its policies, or does not read
 * them.
 */
export type TablePolicy =
  /** Row access: a row is there for the reader when the condition is true of it. */
  | { readonly kind: 'row_access'; readonly name: string; readonly condition: string }
  /** Masking: the reader sees the value of the expression in place of the column, in conditions too. */
  | { readonly kind: 'masking'; readonly name: string; readonly fieldId: number; readonly expression: string }
  /** A policy of a kind that this release does not know, from a newer catalog. */
  | { readonly kind: 'unknown'; readonly name: string };

/** `Policy` of `proto/catalog.proto`. */
export type PolicyMessage = {
  readonly kind: string;
  readonly name: string;
  readonly field_id: number;
  readonly sql: string;
};

export function fromPolicyMessage({ kind, name, field_id: fieldId, sql }: PolicyMessage): TablePolicy {
  if (kind === 'row_access') return { kind, name, condition: sql };
  if (kind === 'masking') return { kind, name, fieldId, expression: sql };
  return { kind: 'unknown', name };
}
