import type { Json, JsonObject } from '#shared/json.ts';
import { parseJson, printJson } from '#shared/json.ts';
import { isObject } from '#shared/iceberg/type.ts';
import { SkeinError } from '#shared/error.ts';
import type { TableBinding } from '../binding/table-binding.ts';

/** The state that the rows of a materialized view were computed from: the view's version, the session's time zone, and its tables. */
export type RefreshState = {
  readonly viewUuid: string;
  readonly viewVersionId: number;
  readonly timeZone: string;
  /** In the order of the query; null when it read rows that are no Iceberg table's. */
  readonly sources: readonly SourceState[] | null;
};

/** A table as it was read; ids are decimal. */
export type SourceState = { readonly uuid: string; readonly snapshotId: string | null; readonly schemaId: number };

/** Entry of the snapshot's summary (draft of Iceberg's materialized views); `time-zone` and `schema-id` are ours. */
const ENTRY = 'refresh-state';

/**
 * The tables of a query as it read them; null when it read anything else.
 * @throws FORBIDDEN for a table below policies: the rows of a view are everybody's, and these are what one reader may see
 */
export function sourcesOf(bindings: readonly TableBinding[]): readonly SourceState[] | null {
  for (const binding of bindings) if (binding.kind === 'policed') throw policed(binding.table.tableName);
  const sources = bindings.map((binding) =>
    binding.kind === 'iceberg'
      ? { uuid: binding.tableUuid, snapshotId: binding.snapshotId, schemaId: binding.schemaId }
      : null,
  );
  return sources.every((source) => source !== null) ? sources : null;
}

/**
 * The versions of the tables that a query has read, those whose metadata it has read included: the catalog keeps which these are, and closes
 * the view to those whom their policies concern.
 */
export const readTables = (bindings: readonly TableBinding[]): readonly string[] => [
  ...new Set(
    bindings.flatMap((binding) => {
      if (binding.kind === 'iceberg') return [binding.version];
      return binding.kind === 'rows' && binding.of !== undefined ? [binding.of] : [];
    }),
  ),
];

const policed = (table: string): SkeinError =>
  new SkeinError('FORBIDDEN', `policies apply to table ${table}: only who is exempt from them makes its rows a view's`);

/** The state as an entry of a snapshot's summary. */
export function printRefreshState(state: RefreshState): Readonly<Record<string, string>> {
  const { viewUuid, viewVersionId, timeZone, sources } = state;
  const states = sources?.map(({ uuid, snapshotId, schemaId }) => ({
    type: 'table',
    uuid,
    'snapshot-id': snapshotId,
    'schema-id': schemaId,
  }));
  const printed = {
    'view-uuid': viewUuid,
    'view-version-id': viewVersionId,
    'time-zone': timeZone,
    ...(states === undefined ? {} : { 'source-states': states }),
  };
  return { [ENTRY]: printJson(printed) };
}

/** The state of the rows of a snapshot; null for one that no refresh has made. */
export function readRefreshState(summary: Readonly<Record<string, string>>): RefreshState | null {
  const text = summary[ENTRY];
  if (text === undefined) return null;
  let json: Json;
  try {
    json = parseJson(text);
  } catch {
    return null;
  }
  if (!isObject(json)) return null;
  const { 'view-uuid': viewUuid, 'view-version-id': viewVersionId, 'time-zone': timeZone } = json;
  if (typeof viewUuid !== 'string' || typeof viewVersionId !== 'number' || typeof timeZone !== 'string') return null;
  const list = json['source-states'];
  const sources = Array.isArray(list) ? list.map(readSource) : null;
  if (sources?.includes(null) === true) return null;
  return { viewUuid, viewVersionId, timeZone, sources: sources as readonly SourceState[] | null };
}

function readSource(json: Json): SourceState | null {
  if (!isObject(json)) return null;
  const { uuid, 'snapshot-id': snapshotId, 'schema-id': schemaId }: JsonObject = json;
  if (typeof uuid !== 'string' || typeof schemaId !== 'number') return null;
  return snapshotId === null || typeof snapshotId === 'string' ? { uuid, snapshotId, schemaId } : null;
}
