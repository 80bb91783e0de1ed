import { parseJson, printJson, type Json } from '#shared/json.ts';
import { documentTask, METADATA_THREAD } from './document-task.ts';
import { currentSnapshotId, type DocumentSchema, type Properties, type TableDocument } from './table-document.ts';
import type { ViewMetadata } from './view/view-metadata.ts';

/**
 * Facts of a table or view that lists show (`ListRelations`), kept beside its document so that no list reads documents. JSON texts:
 * `summary` is a `RelationSummary`, `columns` is a `RelationColumns`.
 */
export type RelationFacts = { readonly summary: string; readonly columns: string };

/** Texts are as the properties have them; numbers are decimal texts. A fact that is unknown is absent. */
type RelationSummary = {
  readonly owner?: string;
  readonly created?: string;
  /** When the document last changed, in milliseconds since 1970; of a view, when its version was made. */
  readonly changed?: string;
  readonly comment?: string;
  readonly rows?: string;
  readonly bytes?: string;
};

/** `fields` as in Iceberg's JSON form of a schema; `keys` are the identifier field ids; `summary` is that of a view's version. */
type RelationColumns = { readonly fields: Json; readonly keys: readonly number[]; readonly summary?: Json };

/** The facts of a table by its document. */
function readTableFacts(text: string): RelationFacts {
  return tableFacts(parseJson(text) as unknown as TableDocument);
}
export const TABLE_FACTS = documentTask(readTableFacts, 'tableFacts', METADATA_THREAD);

export function tableFacts(metadata: TableDocument): RelationFacts {
  const schema = metadata.schemas.find((one) => one['schema-id'] === metadata['current-schema-id']);
  return facts(
    { ...ofProperties(metadata.properties), changed: String(metadata['last-updated-ms']), ...sizeOf(metadata) },
    columnsOf(schema),
  );
}

export function viewFacts(metadata: ViewMetadata): RelationFacts {
  const version = metadata.versions.find((one) => one['version-id'] === metadata['current-version-id']);
  const schema = metadata.schemas.find((one) => one['schema-id'] === version?.['schema-id']);
  const changed = version === undefined ? {} : { changed: String(version['timestamp-ms']) };
  return facts(
    { ...ofProperties(metadata.properties), ...changed },
    { ...columnsOf(schema), summary: version?.summary ?? {} },
  );
}

const facts = (summary: RelationSummary, columns: RelationColumns): RelationFacts => ({
  summary: printJson(summary),
  columns: printJson(columns),
});

function ofProperties(properties: Properties): RelationSummary {
  const { owner, comment } = properties;
  const created = properties['created-at'] ?? properties['created_at'];
  return {
    ...(owner === undefined ? {} : { owner }),
    ...(created === undefined ? {} : { created }),
    ...(comment === undefined ? {} : { comment }),
  };
}

const columnsOf = (schema: DocumentSchema | undefined): RelationColumns => ({
  fields: schema?.fields ?? [],
  keys: schema?.['identifier-field-ids'] ?? [],
});

/** Rows (position deletes taken off) and bytes by the current snapshot's summary; none of both without a snapshot. */
function sizeOf(metadata: TableDocument): Pick<RelationSummary, 'rows' | 'bytes'> {
  const id = currentSnapshotId(metadata);
  if (id === undefined) return { rows: '0', bytes: '0' };
  const summary = metadata.snapshots.find((one) => one['snapshot-id'] === id)?.summary ?? {};
  const records = countOf(summary['total-records']);
  const deleted = countOf(summary['total-position-deletes'] ?? '0');
  const bytes = countOf(summary['total-files-size']);
  const rows = records === null || deleted === null ? null : records > deleted ? records - deleted : 0n;
  return {
    ...(rows === null ? {} : { rows: rows.toString() }),
    ...(bytes === null ? {} : { bytes: bytes.toString() }),
  };
}

/** The largest number of digits that surely fits an int64. */
const DIGITS_MAX = 18;

/** Any writer may put any text into a summary: what is no count is unknown. */
const countOf = (text: string | undefined): bigint | null =>
  text !== undefined && text.length <= DIGITS_MAX && /^\d+$/.test(text) ? BigInt(text) : null;
