import type { JsonObject } from '#shared/json.ts';
import type { SqlField } from '../plan/sql-type.ts';
import type { NameDefaults } from '../binding/query-references.ts';
import type { TableBinding } from '../binding/table-binding.ts';
import type { TableName } from '../binding/table-source.ts';
import type { TextSpan } from '../statement/statement.ts';

/** The scope of a query: the meaning of its names, and the part of a table that it reads. */
export type QueryScope = {
  /** The catalog and schema of names that leave them out. */
  readonly names: NameDefaults;
  /** Limits the query to files of this table that have a higher data sequence number (decimal int64) are read. */
  readonly since?: { readonly tableUuid: string; readonly sequenceNumber: string };
};

/** A refresh of a materialized view. */
export type Refresh<Target> = {
  readonly query: TextSpan;
  readonly scope: QueryScope;
  /** `append`: the rows come to those of the table as it was loaded, or not at all. */
  readonly into:
    | { readonly kind: 'append'; readonly table: TableName }
    | { readonly kind: 'replace'; readonly targetOf: (columns: readonly SqlField[]) => Promise<Target> };
  /** The change of the view in the same commit (`catalog/commit/view/view-change.ts`). */
  readonly viewChange: JsonObject;
  /** Entries of the snapshot's summary, from the tables as they were read. @throws what ends the statement before its commit */
  readonly summaryOf: (scans: readonly TableBinding[]) => Readonly<Record<string, string>>;
};
