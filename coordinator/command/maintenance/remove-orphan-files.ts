import { SkeinError } from '#shared/error.ts';
import { withinRoots } from '#shared/iceberg/allowed-roots.ts';
import { tooComplex } from '#shared/iceberg/decode-limits.ts';
import { addRemoved, NONE_REMOVED, removeOwnFiles } from '#shared/iceberg/own-files.ts';
import { dataFolder, metadataFolder } from '#shared/iceberg/table-folders.ts';
import { fileName, isWithin, normalizeLocation, withoutTrailingSlash } from '#shared/storage/location.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import type { Storage } from '#shared/storage/storage.ts';
import { loadOwnFiles } from '../../catalog-client/write-catalog.ts';
import type { TableName } from '../../binding/table-source.ts';
import { callersTables } from '../../session/callers-tables.ts';
import { requireCollectable } from './collectable.ts';
import { deletionMetrics, type Procedure } from './procedure.ts';
import { durationValue } from './values.ts';
import { statementUse } from '../../catalog-client/fresh-key.ts';

const DAY_MS = 86_400_000;
/** Age from which a file is removed, unless the call says another. */
const RETENTION_MS = 7 * DAY_MS;
/** Most files of a table's folders; each path is held. */
const FILES_MAX = 2_000_000;
/** Files that are looked at at once. */
const FILES_AT_ONCE = 1_000;
const METADATA_DOCUMENT = '.metadata.json';

/**
 * `remove_orphan_files(retention_threshold => '7d')`: removes the files in the table's folders that no snapshot reaches and that are older
 * than the threshold. Files of statements that run stay, whatever their age:
 * ```
 * list the folders ─▶ read which writes are open ─▶ load the table ─▶ find what no snapshot of it reaches
 * ```
 * In this order, a write whose files were listed is either open, or has committed before the table was loaded. The age protects what other
 * engines write. Metadata documents stay, which only the catalog can tell from each other, and so do folders of other tables.
 */
export const removeOrphanFiles: Procedure = {
  parameters: ['retention_threshold'],
  async run(name, values, { context, dryRun, position }) {
    const { catalog, caller, config, signal } = context;
    const retentionMs = durationValue(values, 'retention_threshold') ?? RETENTION_MS;
    const minMs = config['coordinator.orphan_retention_min'];
    if (retentionMs < minMs) {
      const at = values.get('retention_threshold')?.position ?? position;
      const message = `retention_threshold is shorter than ${minMs / 1_000} s (coordinator.orphan_retention_min)`;
      throw new SkeinError('INVALID_ARGUMENT', message, { position: at });
    }
    const olderThanMs = Date.now() - retentionMs;
    const load = () => loadOwnFiles(context, callersTables(catalog, caller), { name, signal });
    const begun = await load();
    requireCollectable(begun.metadata, position);
    const { location, tableUuid } = begun.metadata;
    const storage = openStorage(location, begun.credential, statementUse(catalog, caller.claims.tenant, { signal }));
    const { files: found, isOld } = await listFiles(storage, begun, { olderThanMs, signal });
    const openWrites = [...(await context.openWrites())];
    const { metadata, allowedRoots, credential, own } = await load();
    if (metadata.tableUuid !== tableUuid) throw new SkeinError('COMMIT_CONFLICT', 'the table was made anew meanwhile');
    const named = new Set(metadata.otherFiles.map(fileName));
    const isOthers = foldersOfOthers(found, metadata);
    const candidates = found.filter((file) => {
      const own = fileName(file);
      const isDocument = own.includes(METADATA_DOCUMENT) || own === 'version-hint.text';
      return !isDocument && !named.has(own) && !isOthers(file);
    });
    const { formatVersion, fields, specs, defaultSpecId, snapshots } = metadata;
    const table = { tableUuid, formatVersion, location, fields, specs, defaultSpecId, snapshots };
    const call = { tableName: printName(name), signal };
    const request = { table, allowedRoots, credential, candidates };
    const open = (): Promise<Storage> => Promise.resolve(storage);
    const removal = { ...own, log: context.log, table: call.tableName, pause: () => signal.throwIfAborted(), dryRun };
    let removed = NONE_REMOVED;
    for await (const orphans of context.files.orphans(request, call)) {
      const old = isOld === undefined ? await olderThan(storage, orphans, olderThanMs) : orphans.filter(isOld);
      const left = old.filter((file) => !openWrites.some((writeId) => file.includes(writeId)));
      removed = addRemoved(removed, await removeOwnFiles({ open }, left, removal));
    }
    return [['scanned_files_count', found.length], ...deletionMetrics(removed)];
  },
};

const printName = ({ catalog, namespace, table }: TableName): string => [catalog, ...namespace, table].join('.');

type Loaded = Awaited<ReturnType<typeof loadOwnFiles>>;

type Found = {
  readonly files: readonly string[];
  /** Absent where a list does not tell times without another look at each file. */
  readonly isOld?: (file: string) => boolean;
};

/** The files of the table's folders. @throws TABLE_DATA_TOO_COMPLEX for more than `FILES_MAX` */
async function listFiles(
  storage: Storage,
  { metadata, allowedRoots }: Loaded,
  { olderThanMs, signal }: { readonly olderThanMs: number; readonly signal: AbortSignal },
): Promise<Found> {
  const isAllowed = withinRoots(allowedRoots);
  const wanted = [metadata.location, dataFolder(metadata), metadataFolder(metadata)]
    .filter((folder) => isAllowed(`${folder}/`) || isAllowed(folder))
    .map(normalizeLocation);
  const folders = new Set(
    wanted.filter((folder) => !wanted.some((other) => other !== folder && isWithin(folder, other))),
  );
  const files: string[] = [];
  const young = new Set<string>();
  for (const folder of folders) {
    for await (const page of storage.isLocal ? storage.list(folder) : storage.listFiles(folder)) {
      signal.throwIfAborted();
      for (const entry of page) {
        const file = typeof entry === 'string' ? entry : entry.location;
        files.push(file);
        // A store that tells no time is believed to mean now.
        if (typeof entry !== 'string' && (entry.modifiedMs || Infinity) >= olderThanMs) young.add(file);
      }
      if (files.length > FILES_MAX) throw tooComplex(`the table's folders have more than ${FILES_MAX} files`);
    }
  }
  return storage.isLocal ? { files } : { files, isOld: (file) => !young.has(file) };
}

/**
 * Finds folders of other tables inside of the table's: the catalog lets none of its own lie there, but another catalog may. Each has metadata
 * documents of its own.
 */
function foldersOfOthers(found: readonly string[], table: Loaded['metadata']): (file: string) => boolean {
  const location = withoutTrailingSlash(normalizeLocation(table.location));
  const own = new Set([normalizeLocation(metadataFolder(table)), `${location}/metadata`]);
  const others = new Set<string>();
  for (const file of found) {
    if (!fileName(file).includes(METADATA_DOCUMENT)) continue;
    const folder = parentOf(normalizeLocation(file));
    if (own.has(folder)) continue;
    const parent = parentOf(folder);
    others.add(parent !== location && isWithin(parent, location) ? parent : folder);
  }
  return (file) => {
    if (others.size === 0) return false;
    for (let folder = parentOf(normalizeLocation(file)); folder.length > location.length; folder = parentOf(folder)) {
      if (others.has(folder)) return true;
    }
    return false;
  };
}

const parentOf = (location: string): string => location.slice(0, Math.max(0, location.lastIndexOf('/')));

async function olderThan(storage: Storage, files: readonly string[], timeMs: number): Promise<readonly string[]> {
  const old: string[] = [];
  for (let start = 0; start < files.length; start += FILES_AT_ONCE) {
    const batch = files.slice(start, start + FILES_AT_ONCE);
    const times = await Promise.all(batch.map((file) => storage.modifiedMs(file)));
    old.push(...batch.filter((_, i) => (times[i] ?? Infinity) < timeMs));
  }
  return old;
}
