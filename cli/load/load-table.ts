import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Config } from '#shared/config/config-schema.ts';
import { ownManifestReader } from '#shared/iceberg/write/rewrite-manifests.ts';
import { dataFolder } from '#shared/iceberg/table-folders.ts';
import { appendFiles } from '#shared/iceberg/write/append-files.ts';
import { commitWrites, isUnknown } from '#shared/iceberg/write/commit-writes.ts';
import type { TableName } from '#shared/iceberg/write/table-write.ts';
import { must } from '#shared/must.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import type { StorageUse } from '#shared/storage/storage-use.ts';
import { makePrivateFolder } from '#shared/storage/private-folder.ts';
import type { Storage } from '#shared/storage/storage.ts';
import { writingPlace, type WritingPlace } from '#worker/write/writing-place.ts';
import { TableFileWriter } from '#worker/write/table-file-writer.ts';
import type { LoadMode } from './load-arguments.ts';
import type { LoadCatalog } from './load-catalog.ts';
import type { InputFile } from './parquet-input.ts';
import type { PartitionExpression } from './partition-by.ts';
import { selectColumns } from './select-columns.ts';
import { prepareTarget, type TargetTable } from './target-table.ts';
import { writeDatabase, writeInputs } from './write-inputs.ts';

export type LoadContext = {
  readonly catalog: LoadCatalog;
  readonly connection: DuckDBConnection;
  readonly config: Config;
  readonly signal: AbortSignal;
};

export type LoadRequest = {
  readonly name: TableName;
  readonly mode: LoadMode;
  readonly partitionBy: readonly PartitionExpression[];
  /** At least one, all of the same columns. */
  readonly inputs: readonly InputFile[];
  readonly onProgress: (share: number) => void;
};

/** Time for which the catalog is asked how a commit ended. */
const SETTLE_MS = 60_000;

export type LoadResult = { readonly snapshotId: bigint; readonly rows: number; readonly files: number };

/**
 * Loads files into one table atomically, as one snapshot. After a failure everything created on the way is removed, unless the outcome of
 * the commit is unknown.
 */
export async function loadTable(context: LoadContext, request: LoadRequest): Promise<LoadResult> {
  const { catalog, config, connection, signal } = context;
  const { name, inputs } = request;
  const columns = must(inputs[0], 'there is an input').columns;
  const target = await prepareTarget(catalog, { ...request, columns });
  const { base, schema, spec, shape } = target;
  const credential = await catalog.storageKey(base);
  // A load may take longer than a key lives.
  const use: StorageUse = { signal, renew: (old) => catalog.renewKey(base, old) };
  const storage = openStorage(base.location, credential, use);
  const writeId = randomUUID();
  const folder = `${dataFolder(base)}/${writeId}`;
  const workFolder = join(tmpdir(), `skein-load-${writeId}`);
  const place = writingPlace({ folder, credential }, { workFolder, use });
  if (place.isApart) makePrivateFolder(workFolder);
  let writer: TableFileWriter | undefined;
  try {
    writer = new TableFileWriter(
      writeDatabase(connection),
      place.storage,
      { schema, spec, folder: place.folder },
      {
        codec: base.properties['write.parquet.compression-codec'],
        level: base.properties['write.parquet.compression-level'],
        rowGroupRows: config['load.row_group_rows'],
        fileBytes: null,
      },
    );
    for (const input of inputs) selectColumns(schema, input);
    const files = await writeInputs(connection, publishing(writer, place, signal), inputs, {
      schema,
      dataFileBytes: Number(base.properties['write.target-file-size-bytes']) || config['load.data_file_bytes'],
      onProgress: request.onProgress,
      signal,
    });
    signal.throwIfAborted();
    const write = { writeId, name, shape, base, schema, spec, change: appendFiles(files) };
    const options = {
      retriesMax: config['catalog.commit_retries_max'],
      settleMs: SETTLE_MS,
      signal,
      manifests: ownManifestReader(storage),
    };
    const [made] = await commitWrites(catalog, storage, [write], options);
    return {
      snapshotId: must(made, 'one write, one snapshot').snapshotId,
      rows: files.reduce((sum, file) => sum + file.recordCount, 0),
      files: files.length,
    };
  } catch (error) {
    if (!isUnknown(error)) {
      await place.takeBack();
      await undo(catalog, name, { ...target, storage }, writer);
    }
    throw error;
  } finally {
    await ignoreErrors(() => storage.removeEmptyFolders(folder));
    if (place.isApart) await rm(workFolder, { recursive: true, force: true });
  }
}

/** A writer whose files are brought to the table's storage part by part, so that they do not all lie on this machine. */
const publishing = (
  writer: TableFileWriter,
  place: WritingPlace,
  signal: AbortSignal,
): Pick<TableFileWriter, 'write'> => ({
  write: async (query) => {
    const files = await writer.write(query);
    const placed = await place.publish(signal, files);
    if (place.isApart) await place.storage.remove(files.map(({ path }) => path));
    return placed;
  },
});

/** Removes what a failed load created. Errors are ignored, because the first error is the one to report. */
async function undo(
  catalog: LoadCatalog,
  name: TableName,
  { base, shape, namespacesMade, storage }: TargetTable & { readonly storage: Storage },
  writer: TableFileWriter | undefined,
): Promise<void> {
  await ignoreErrors(async () => writer?.remove());
  if (shape === 'create') {
    await ignoreErrors(() => storage.removeEmptyFolders(base.location));
  }
  for (const namespace of namespacesMade.toReversed()) await ignoreErrors(() => catalog.dropNamespace(name, namespace));
}

async function ignoreErrors(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch {
    // Best effort: the original error is the one to report.
  }
}
