import type { JsonObject } from '#shared/json.ts';
import type { SqlField } from '../plan/sql-type.ts';
import type { NameDefaults } from '../binding/query-references.ts';
import type { TableBinding } from '../binding/table-binding.ts';
import type { TableName } from '../binding/table-source.ts';
import type { TextSpan } from '../statement/statement.ts';

/** What the names of a query mean, and what it reads of a table. */
export type QueryScope = {
  /** The catalog and schema of names that leave them out. */
  readonly names: NameDefaults;
  /** Of this table only files of a higher data sequence number (decimal int64) are read. */
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
