import { unreachable } from '#shared/must.ts';
import { printJson } from '#shared/json.ts';
import { hasAll } from '../has-all.ts';
import { schemaText } from '../document-schema.ts';
import type { Properties, DocumentSchema } from '../table-document.ts';
import {
  checkRepresentations,
  currentVersion,
  dialectsOf,
  refuseView,
  VIEW_FORMAT_VERSION,
  type ViewMetadata,
  type ViewVersion,
} from './view-metadata.ts';
import { checkViewRequirements, type CreateViewRequest, type ViewCommit, type ViewUpdate } from './view-request.ts';

/** Builds view metadata from requests, as Iceberg's reference implementation does (`ViewMetadata.Builder`). Pure. */

const LAST_ADDED = -1;
/** Property: how many versions a view keeps. */
const HISTORY_PROPERTY = 'version.history.num-entries';
const HISTORY_DEFAULT = 10;
/** Property: whether a new version may lack a dialect that the one before had. */
const DROP_DIALECT_PROPERTY = 'replace.drop-dialect.allowed';

type Draft = {
  readonly base: ViewMetadata | undefined;
  readonly nowMs: number;
  metadata: ViewMetadata;
  changed: boolean;
  lastAddedSchemaId: number | undefined;
  lastAddedVersionId: number | undefined;
  readonly addedVersions: Set<number>;
  /** Time at which the current version became current, if this commit made it so. */
  becameCurrentMs: number | undefined;
};

/** @throws INVALID_VIEW */
export function newViewMetadata(
  request: CreateViewRequest,
  created: { readonly uuid: string; readonly location: string; readonly nowMs: number },
): ViewMetadata {
  const empty: ViewMetadata = {
    'view-uuid': created.uuid,
    'format-version': VIEW_FORMAT_VERSION,
    location: created.location,
    properties: {},
    schemas: [],
    'current-version-id': LAST_ADDED,
    versions: [],
    'version-log': [],
  };
  const draft = draftOf(undefined, empty, created.nowMs);
  const version = { ...request.version, 'version-id': 1, 'schema-id': LAST_ADDED };
  applyAll(draft, [
    { kind: 'set-properties', properties: request.properties },
    { kind: 'add-schema', schema: request.schema },
    { kind: 'add-view-version', version },
    { kind: 'set-current-view-version', id: LAST_ADDED },
  ]);
  return finish(draft);
}

/** The view after a commit; `base` itself when nothing changes. @throws COMMIT_CONFLICT, INVALID_VIEW */
export function commitViewMetadata(base: ViewMetadata, commit: ViewCommit, nowMs: number): ViewMetadata {
  checkViewRequirements(commit.uuids, base);
  const draft = draftOf(base, base, nowMs);
  applyAll(draft, commit.updates);
  return draft.changed ? finish(draft) : base;
}

const draftOf = (base: ViewMetadata | undefined, metadata: ViewMetadata, nowMs: number): Draft => ({
  base,
  nowMs,
  metadata,
  changed: false,
  lastAddedSchemaId: undefined,
  lastAddedVersionId: undefined,
  addedVersions: new Set(),
  becameCurrentMs: undefined,
});

function applyAll(draft: Draft, updates: readonly ViewUpdate[]): void {
  for (const update of updates) apply(draft, update);
}

function apply(draft: Draft, update: ViewUpdate): void {
  const { metadata } = draft;
  switch (update.kind) {
    case 'assign-uuid':
      if (metadata['view-uuid'].toLowerCase() !== update.uuid.toLowerCase()) refuseView('Cannot reassign uuid');
      return;
    case 'upgrade-format-version':
      if (update.version < VIEW_FORMAT_VERSION) {
        refuseView(`Cannot downgrade v${VIEW_FORMAT_VERSION} view to v${update.version}`);
      }
      if (update.version > VIEW_FORMAT_VERSION) refuseView(`Unsupported format version: ${update.version}`);
      return;
    case 'add-schema':
      return addSchema(draft, update.schema);
    case 'set-location':
      if (metadata.location !== update.location) change(draft, { location: update.location });
      return;
    case 'set-properties':
      if (hasAll(metadata.properties, update.properties)) return;
      return change(draft, { properties: { ...metadata.properties, ...update.properties } });
    case 'remove-properties':
      return removeProperties(draft, new Set(update.names));
    case 'add-view-version':
      return addVersion(draft, update.version);
    case 'set-current-view-version':
      return setCurrent(draft, update.id);
    default:
      return unreachable(update, 'update');
  }
}

function change(draft: Draft, members: Partial<ViewMetadata>): void {
  draft.metadata = { ...draft.metadata, ...members };
  draft.changed = true;
}

function removeProperties(draft: Draft, names: ReadonlySet<string>): void {
  const before = Object.entries(draft.metadata.properties);
  const kept = before.filter(([name]) => !names.has(name));
  if (kept.length < before.length) change(draft, { properties: Object.fromEntries(kept) });
}

/** Adds a schema, or reuses an identical one. */
function addSchema(draft: Draft, schema: DocumentSchema): void {
  const { schemas } = draft.metadata;
  const text = schemaText(schema);
  const same = schemas.find((known) => schemaText(known) === text);
  if (same !== undefined) {
    draft.lastAddedSchemaId = same['schema-id'];
    return;
  }
  const id = schemas.reduce((next, known) => Math.max(next, known['schema-id'] + 1), 0);
  change(draft, { schemas: [...schemas, { ...schema, 'schema-id': id }] });
  draft.lastAddedSchemaId = id;
}

/** Adds a version, or reuses one that behaves the same. A new version gets the next free id when its own id is not above all others. */
function addVersion(draft: Draft, wanted: ViewVersion): void {
  const { versions, schemas } = draft.metadata;
  const schemaId = wanted['schema-id'] === LAST_ADDED ? lastAddedSchema(draft) : wanted['schema-id'];
  if (!schemas.some((schema) => schema['schema-id'] === schemaId)) {
    refuseView(`Cannot add version with unknown schema: ${schemaId}`);
  }
  checkRepresentations(wanted);
  const resolved = { ...wanted, 'schema-id': schemaId };
  const text = behaviour(resolved);
  const same = versions.find((known) => behaviour(known) === text);
  if (same !== undefined) {
    draft.lastAddedVersionId = same['version-id'];
    return;
  }
  const id = versions.reduce((next, known) => Math.max(next, known['version-id'] + 1), resolved['version-id']);
  if (id < 1 || id > VERSION_ID_MAX) refuseView(`Invalid view version id: ${id}`);
  change(draft, { versions: [...versions, { ...resolved, 'version-id': id }] });
  draft.lastAddedVersionId = id;
  draft.addedVersions.add(id);
}

const VERSION_ID_MAX = 2 ** 31 - 1;

const lastAddedSchema = (draft: Draft): number =>
  draft.lastAddedSchemaId ?? refuseView('Cannot set last added schema: no schema has been added');

/** A text of everything in a version but its id and time, to compare versions. */
const behaviour = (version: ViewVersion): string =>
  printJson([
    Object.entries(version.summary).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    version.representations.map(({ type, dialect, sql }) => [type, dialect, sql]),
    version['default-catalog'] ?? null,
    version['default-namespace'],
    version['schema-id'],
    ...(version['storage-table'] === undefined ? [] : [version['storage-table']]),
  ]);

function setCurrent(draft: Draft, wanted: number): void {
  const { metadata } = draft;
  const id =
    wanted === LAST_ADDED
      ? (draft.lastAddedVersionId ?? refuseView('Cannot set last version id: no current version id has been set'))
      : wanted;
  if (metadata['current-version-id'] === id) return;
  const version = metadata.versions.find((one) => one['version-id'] === id);
  if (version === undefined) return refuseView(`Cannot set current version to unknown version: ${id}`);
  change(draft, { 'current-version-id': id });
  draft.becameCurrentMs = draft.addedVersions.has(id) ? version['timestamp-ms'] : draft.nowMs;
}

function finish(draft: Draft): ViewMetadata {
  const { metadata, base } = draft;
  const current = currentVersion(metadata);
  if (base !== undefined && metadata.properties[DROP_DIALECT_PROPERTY]?.toLowerCase() !== 'true') {
    checkDialects(currentVersion(base), current);
  }
  const log =
    draft.becameCurrentMs === undefined
      ? metadata['version-log']
      : [...metadata['version-log'], { 'timestamp-ms': draft.becameCurrentMs, 'version-id': current['version-id'] }];
  const versions = retained(draft, current);
  const ids = new Set(versions.map((version) => version['version-id']));
  // Cut the history at a removed version: entries before the gap would be misleading.
  const gap = log.findLastIndex((entry) => !ids.has(entry['version-id']));
  return { ...metadata, versions, 'version-log': log.slice(gap + 1) };
}

function checkDialects(before: ViewVersion, after: ViewVersion): void {
  const now = new Set(dialectsOf(after));
  const was = dialectsOf(before);
  if (was.every((dialect) => now.has(dialect))) return;
  refuseView(
    `Cannot replace view due to loss of view dialects (${DROP_DIALECT_PROPERTY}=false):\n` +
      `Previous dialects: [${was.join(', ')}]\nNew dialects: [${[...now].join(', ')}]`,
  );
}

/** Returns the versions to keep: the newest by id, and always the current one and those that this commit added. */
function retained(draft: Draft, current: ViewVersion): readonly ViewVersion[] {
  const { versions, properties } = draft.metadata;
  const keep = Math.max(new Set([...draft.addedVersions, current['version-id']]).size, historySize(properties));
  if (versions.length <= keep) return versions;
  const others = versions
    .filter((version) => version !== current)
    .toSorted((a, b) => b['version-id'] - a['version-id'])
    .slice(0, keep - 1);
  return [current, ...others].toSorted((a, b) => a['version-id'] - b['version-id']);
}

function historySize(properties: Properties): number {
  const text = properties[HISTORY_PROPERTY];
  if (text === undefined) return HISTORY_DEFAULT;
  return /^\d{1,9}$/.test(text) && Number(text) > 0
    ? Number(text)
    : refuseView(`${HISTORY_PROPERTY} must be positive but was ${text}`);
}
