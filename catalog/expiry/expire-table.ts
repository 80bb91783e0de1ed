import { principalId } from '#shared/id.ts';
import {
  expiredFiles,
  expiredSnapshots,
  expiryChange,
  expiryDefaults,
  isProtected,
  nextLook,
} from '#shared/iceberg/expired-snapshots.ts';
import { removeOwnFiles } from '#shared/iceberg/own-files.ts';
import { parseLargeMetadata } from '#shared/iceberg/parse-large-metadata.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import type { TableReader } from '#shared/iceberg/table-reader.ts';
import { parseJson, printJson } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { parseCommit } from '../metadata/commit-metadata.ts';
import { commitTables } from '../commit/commit-tables.ts';
import { sourceOfCommit } from '../metadata/commit-source.ts';
import type { CatalogContext } from '../context.ts';
import { setExpiry, type ExpiringTable } from '../store/postgres/expiry-store.ts';
import { listClaims } from '../store/postgres/folder-claims.ts';
import { displayIdent } from '../metadata/object-name.ts';
import { readDocument } from '../store/postgres/table-store.ts';
import { plainUnit } from '../store/postgres/transact.ts';

/** Expiry commits for nobody. */
const NOBODY = principalId('');

export type ExpiryParts = CatalogContext & { readonly tables: Pick<TableReader, 'unreachable'> };

/**
 * Removes the snapshots and references of a table that have expired, in one commit, and then the files that only they reached, as far as
 * they lie in the table's own folders. After a crash between the two these files are orphans.
 * @returns the number of snapshots
 * @throws COMMIT_CONFLICT when another commit changes a reference meanwhile
 */
export async function expireTable(parts: ExpiryParts, table: ExpiringTable, signal: AbortSignal): Promise<number> {
  const { store, clock, config, documents } = parts;
  const before = await documents.run(table.tenant, table.metadataBytes, async () => {
    const text = await readDocument(store.db, table.id, table.version);
    return text === undefined ? undefined : parse(parts, table, { text, signal });
  });
  // A commit came between, and has set another time.
  if (before === undefined) return 0;
  const expired = expiredSnapshots(before, expiryDefaults(before, config['snapshot.bookmark_keys']), clock.nowMs());
  if (isProtected(before) || expired.snapshotIds.length + expired.refs.length === 0) {
    const next = nextLook(before, clock.nowMs());
    await setExpiry(store.db, table, next === null ? null : new Date(next));
    return 0;
  }
  const { tenant, catalog, ident } = table;
  const target = { claims: { sub: NOBODY, tenant, preferred_username: '' }, catalog, ident };
  const { requirements, updates } = expiryChange(before, expired);
  const sameTable = { type: 'assert-table-uuid', uuid: before.tableUuid };
  // As a client's request has it: numbers are compared as they are in the document.
  const body = parseJson(printJson({ requirements: [sameTable, ...requirements], updates }));
  const source = sourceOfCommit(parseCommit(body));
  const [made] = await commitTables(parts, plainUnit(store.db), [{ target, source }]);
  const now = await parse(parts, table, { text: must(made, 'one table for one change').metadata, signal });
  const files = expiredFiles(before, now, expired.snapshotIds);
  if (files !== null) await removeFiles(parts, table, { files, signal });
  return expired.snapshotIds.length;
}

type Parsed = { readonly text: string; readonly signal: AbortSignal };
const parse = (
  { readers }: ExpiryParts,
  { tenant, ident }: ExpiringTable,
  { text, signal }: Parsed,
): Promise<TableMetadata> =>
  parseLargeMetadata(readers, text, { owner: tenant, what: `the metadata of ${displayIdent(ident)}`, signal });

type Removal = {
  readonly files: NonNullable<ReturnType<typeof expiredFiles>>;
  readonly signal: AbortSignal;
};

async function removeFiles(
  { store, storages, tables, log }: ExpiryParts,
  { id, tenant, ident, roots }: ExpiringTable,
  { files, signal }: Removal,
): Promise<void> {
  const folders = await listClaims(store.db, id);
  const request = {
    ...files,
    tenant,
    allowedRoots: roots,
    credential: await storages.credential(files.table.location),
  };
  let spared = 0;
  for await (const found of tables.unreachable(request, { tableName: displayIdent(ident), signal })) {
    const pause = (): void => signal.throwIfAborted();
    spared += (await removeOwnFiles(storages, found, { roots, folders, log, table: id, pause })).elsewhere;
  }
  if (spared > 0) log.info({ table: id, spared }, 'an expiry left files outside of the table’s own folders');
}
