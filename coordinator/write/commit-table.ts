import type { NewDataFile } from '#shared/iceberg/write/data-file.ts';
import type { SnapshotChange } from '#shared/iceberg/write/snapshot-change.ts';
import type { LoadsChange } from '#shared/iceberg/stage-loads.ts';
import type { JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { freshKey, statementUse } from '../catalog-client/fresh-key.ts';
import { writeCatalog } from '../catalog-client/write-catalog.ts';
import type { WriteTarget } from '../operation/writes.ts';
import { callersTables } from '../session/callers-tables.ts';
import { principalOf } from '#shared/authorization/principal.ts';
import { TableCommit } from './table-commit.ts';
import type { OpenWrite } from './write-journal.ts';
import type { WriteParts } from './write-services.ts';

type Commit = {
  readonly writeId: string;
  readonly change: SnapshotChange;
  /** The files, when the change is that they are appended. */
  readonly appended: readonly NewDataFile[] | null;
  /** As in `CommitOptions`. */
  readonly viewChange?: JsonObject | undefined;
  readonly loads?: LoadsChange | undefined;
  /** The intent of the write; undefined for one that writes metadata files only. */
  readonly open: OpenWrite | undefined;
};

/**
 * Commits a change of a table's snapshot when it is the table's turn. The key of each attempt is in the intent before the attempt is sent.
 * @throws COMMIT_CONFLICT, COMMIT_STATE_UNKNOWN
 */
export async function commitTable(
  { context, config, statement, journal, commits, report, repeats }: WriteParts,
  { allowedRoots: _roots, credential: begun, policies: _policies, ...target }: WriteTarget,
  { writeId, change, loads, viewChange, ...commit }: Commit,
): Promise<void> {
  const { caller, catalog, signal, files } = context;
  // The statement's own tables would stay as they were when it began.
  const tables = callersTables(catalog, caller);
  const { tenant } = caller.claims;
  const credential = await freshKey(catalog, tenant, begun);
  const tableCommit = new TableCommit({
    ...commit,
    viewChange,
    write: { ...target, writeId, change, loads },
    principal: principalOf(caller.claims),
    catalog: writeCatalog(catalog, caller.claims, tables),
    storage: openStorage(target.base.location, credential, statementUse(catalog, tenant, { signal, repeats })),
    manifests: files.manifests({ name: target.name, credential }),
    journal,
    retriesMax: config['catalog.commit_retries_max'],
    signal,
    begin: () => statement.beginCommit(),
  });
  const startMs = performance.now();
  await commits.run(target.base.tableUuid, tableCommit);
  const made = must(tableCommit.made, 'it is committed');
  report?.committed({ change, made, elapsedMs: performance.now() - startMs });
}
