/**
 * A policy between a table and one reader of it, as the catalog names it; who is exempt has none. Its SQL is the policy's own: the reader's
 * rights, settings and names change nothing in it. Whoever reads the table's rows applies all of its policies, or does not read them.
 */
export type TablePolicy =
  /** Row access: a row is there for the reader when the body is true of it. The conditions of several are joined by AND. */
  | (BoundPolicy & { readonly kind: 'row_access' })
  /** Masking: the reader sees the value of the body in place of the column, in conditions too. A column has one at most. */
  | (BoundPolicy & {
      readonly kind: 'masking';
      /** The column: that of the first argument. */ readonly fieldId: number;
    })
  /** The rows were made of those of tables whose policies concern the reader: nobody can apply them any more. */
  | { readonly kind: 'closed'; readonly name: string }
  /** A policy of a kind that this release does not know, from a newer catalog. */
  | { readonly kind: 'unknown'; readonly name: string };

/** The kind of policy by which the catalog closes a table. */
export const CLOSED = 'closed';

type BoundPolicy = {
  /** `catalog.schema.name`, for those who may manage policies. */
  readonly name: string;
  /** Stays when the body is replaced. */
  readonly id: string;
  /** Counts the bodies. Decimal int64. */
  readonly version: string;
  /**
   * An SQL expression over the names of the arguments. Every table in it is one of `mappingTables`, and is spelled with catalog, schema and
   * name, each in quotes.
   */
  readonly body: string;
  /** The columns that the names in the body stand for, which come to it raw, whatever masks they have. */
  readonly arguments: readonly PolicyArgument[];
  /** Tables that the body reads. They have no policies, and are read whole, as they are when the statement begins. */
  readonly mappingTables: readonly MappingTable[];
};

type PolicyArgument = {
  readonly name: string;
  /** The type of the column when it was bound: an SQL type as DuckDB prints it. */
  readonly type: string;
  readonly fieldId: number;
};

type MappingTable = {
  readonly catalog: string;
  readonly namespace: readonly string[];
  readonly table: string;
};

/** `Policy` of `proto/catalog.proto`. */
export type PolicyMessage = {
  readonly kind: string;
  readonly name: string;
  readonly field_id: number;
  readonly body: string;
  readonly id: string;
  readonly version: string;
  readonly arguments: readonly { readonly name: string; readonly type: string; readonly field_id: number }[];
  readonly mapping_tables: readonly MappingTable[];
};

export function fromPolicyMessage(message: PolicyMessage): TablePolicy {
  const { kind, name, id, version, body } = message;
  const bound = {
    name,
    id,
    version,
    body,
    arguments: message.arguments.map((one) => ({ name: one.name, type: one.type, fieldId: one.field_id })),
    mappingTables: message.mapping_tables.map(({ catalog, namespace, table }) => ({ catalog, namespace, table })),
  };
  if (kind === 'row_access') return { kind, ...bound };
  if (kind === 'masking') return { kind, fieldId: message.field_id, ...bound };
  return { kind: kind === CLOSED ? CLOSED : 'unknown', name };
}
