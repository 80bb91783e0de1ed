import type { JsonObject } from '#shared/json.ts';
import type { BoundedFamily } from '#shared/sql/bounded-functions.ts';

/** The external references of a parsed query. Locations are byte offsets in its text. */
export type QueryReferences = {
  /** In the order of the text. */
  readonly tables: readonly TableReference[];
  readonly columns: readonly QualifiedColumn[];
  /** Whether the result depends on the user or the time (`now()`, `current_user`). */
  readonly contextual: boolean;
  /** Families of the costly functions that it calls; workers limit their work. */
  readonly bounds: readonly BoundedFamily[];
};

export type TableReference = {
  readonly location: number;
  /** The name as written: table, schema and table, or catalog, schema and table. */
  readonly parts: readonly string[];
  /** The alias to add; null when the query gives one. */
  readonly alias: string | null;
  readonly at: TimeTravel | null;
};

/** `AT (VERSION => ...)` names a snapshot id, branch or tag; `AT (TIMESTAMP => ...)` an instant in microseconds since 1970. */
export type TimeTravel =
  | { readonly kind: 'version'; readonly version: string }
  | { readonly kind: 'timestamp'; readonly micros: string };

/** A column reference that begins with a table's name, `parts` as written; `alias` stands for that table. */
export type QualifiedColumn = {
  readonly location: number;
  readonly parts: readonly string[];
  readonly alias: string;
};

/** The syntax tree of a constant expression that is an instant. */
export type PendingInstant = {
  readonly kind: 'expression';
  readonly expression: JsonObject;
  readonly location: number;
};
