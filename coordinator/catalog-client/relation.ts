import type { Relation as RelationMessage } from '#proto/generated/skein/catalog/v1/Relation.ts';
import { parseFields, isObject, smallInteger, type Field } from '#shared/iceberg/type.ts';
import { parseJson, printJson, type Json } from '#shared/json.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { currentSchema } from '#shared/iceberg/table-metadata.ts';
import type { LoadedTable } from '../binding/table-source.ts';
import { readIntervals } from '../binding/interval-columns.ts';

/** A table or view as the catalog lists it. */
export type Relation = {
  readonly id: string;
  /** Its number for Postgres' clients; 0 = the catalog has given it none yet. */
  readonly oid: number;
  readonly namespaceOid: number;
  readonly namespace: readonly string[];
  /** The namespace as one name: `schemaName`. */
  readonly schema: string;
  readonly name: string;
  readonly kind: RelationKind;
  readonly owner: string | null;
  readonly created: string | null;
  /** When it last changed, of a materialized view when its rows did, in milliseconds since 1970; null = unknown. */
  readonly changedAtMs: number | null;
  readonly comment: string | null;
  /** Rows and bytes by its current snapshot, of a materialized view by that of its rows; decimal texts, null = unknown. */
  readonly rows: string | null;
  readonly bytes: string | null;
  /** Row-access and masking policies that are bound to it. */
  readonly policies: readonly RelationPolicy[];
  /** Reads its columns. A list of thousands of relations keeps texts, which take a third of the memory of what they say. */
  readonly columns: () => RelationColumns;
  /** Whether a name of a column may contain a text, folded; many lists are searched without reading their columns. */
  readonly mentions: (folded: string) => boolean;
  /** Memory that the columns take. */
  readonly columnBytes: number;
};

export type RelationPolicy = {
  readonly kind: 'row_access' | 'masking';
  readonly catalog: string;
  readonly schema: string;
  readonly name: string;
  /** The column that is masked; null for a row-access policy. */
  readonly fieldId: number | null;
};

type RelationKind = 'TABLE' | 'VIEW' | 'MATERIALIZED VIEW';

export type RelationColumns = {
  readonly fields: readonly Field[];
  /** Ids of the fields of the primary key. */
  readonly keys: ReadonlySet<number>;
  /** Names of those that are INTERVAL. */
  readonly intervals: ReadonlySet<string>;
};

export function readRelation(message: RelationMessage): Relation {
  const { id, oid, namespace, name, columns } = message;
  const summary = membersOf(message.summary);
  const stored = message.kind === 'MATERIALIZED_VIEW' ? membersOf(message.storage_summary) : summary;
  return {
    id,
    oid,
    namespaceOid: message.namespace_oid,
    namespace,
    schema: namespace.join('.'),
    name,
    kind: kindOf(message.kind),
    owner: textOf(summary['owner']),
    created: textOf(summary['created']),
    changedAtMs: millisOf(textOf(stored['changed']) ?? textOf(summary['changed'])),
    comment: textOf(summary['comment']),
    rows: textOf(stored['rows']),
    bytes: textOf(stored['bytes']),
    policies: message.policies.map(({ kind, catalog, schema, name: policy, field_id: fieldId }) =>
      kind === 'masking'
        ? { kind, catalog, schema, name: policy, fieldId }
        : { kind: 'row_access', catalog, schema, name: policy, fieldId: null },
    ),
    columns: () => readColumns(columns),
    mentions: (folded) => foldIdentifier(columns).includes(printJson(folded).slice(1, -1)),
    columnBytes: columns.length,
  };
}

const kindOf = (kind: string): RelationKind =>
  kind === 'MATERIALIZED_VIEW' ? 'MATERIALIZED VIEW' : kind === 'VIEW' ? 'VIEW' : 'TABLE';

/** Columns that cannot be read are none: such a table can be listed, and dropped. */
function readColumns(text: string): RelationColumns {
  const { fields, keys, summary } = membersOf(text);
  try {
    return {
      fields: parseFields(fields),
      keys: new Set(Array.isArray(keys) ? (keys as readonly Json[]).map((id) => smallInteger(id, 'a key')) : []),
      intervals: new Set(readIntervals(summary)),
    };
  } catch {
    return { fields: [], keys: new Set(), intervals: new Set() };
  }
}

function membersOf(text: string): Readonly<Record<string, Json>> {
  const json = text === '' ? null : parseJson(text);
  return isObject(json ?? undefined) ? (json as Readonly<Record<string, Json>>) : {};
}

const textOf = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);

/** A number that no date can be is unknown: writers send any. */
function millisOf(text: string | null): number | null {
  const millis = Number(text ?? Number.NaN);
  return Math.abs(millis) <= DATE_MS_MAX ? millis : null;
}
const DATE_MS_MAX = 8.64e15;

/** A table as a list would have it, by its document. */
export function relationOfTable({ name, oid, metadata }: Extract<LoadedTable, { kind: 'found' }>): Relation {
  const { owner = null, comment = null } = metadata.properties;
  const created = metadata.properties['created-at'] ?? metadata.properties['created_at'] ?? null;
  const { fields, identifierFieldIds } = currentSchema(metadata);
  const snapshot = metadata.currentSnapshotId === null ? null : metadata.snapshots.get(metadata.currentSnapshotId);
  const summary = snapshot === null ? NO_ROWS : (snapshot?.summary ?? {});
  const records = countOf(summary['total-records']);
  const deleted = countOf(summary['total-position-deletes'] ?? '0');
  return {
    id: metadata.tableUuid,
    oid,
    namespaceOid: 0,
    namespace: name.namespace,
    schema: name.namespace.join('.'),
    name: name.table,
    kind: 'TABLE',
    owner,
    created,
    changedAtMs: null,
    comment,
    rows: records === null || deleted === null ? null : String(records > deleted ? records - deleted : 0n),
    bytes: countOf(summary['total-files-size'])?.toString() ?? null,
    // Only a table that a transaction has made is listed by its document.
    policies: [],
    columns: () => ({ fields, keys: new Set(identifierFieldIds), intervals: new Set() }),
    mentions: (folded) => fields.some(({ name: column }) => foldIdentifier(column).includes(folded)),
    columnBytes: 0,
  };
}

const NO_ROWS: Readonly<Record<string, string>> = { 'total-records': '0', 'total-files-size': '0' };

/** Any writer may put any text into a summary: what is no count is unknown. */
const countOf = (text: string | undefined): bigint | null =>
  text !== undefined && /^\d{1,18}$/.test(text) ? BigInt(text) : null;
