import { rmdir } from 'node:fs/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Config } from '#shared/config/config-schema.ts';
import { fileStorage } from '#shared/storage/file-storage.ts';
import { localPath } from '#shared/storage/location.ts';
import { commitFiles } from './commit-files.ts';
import { DataFileWriter } from './data-file-writer.ts';
import type { LoadMode, TableName } from './load-arguments.ts';
import type { InputFile } from './parquet-input.ts';
import type { PartitionExpression } from './partition-by.ts';
import { CommitStateUnknown, type RestCatalog } from './rest-catalog.ts';
import { selectColumns } from './select-columns.ts';
import { prepareTarget, type TargetTable } from './target-table.ts';
import { must } from '#shared/must.ts';

export type LoadContext = {
  readonly catalog: RestCatalog;
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
  const { base, schema, spec } = target;
  const writer = new DataFileWriter(
    connection,
    { schema, spec, location: base.location },
    {
      codec: base.properties['write.parquet.compression-codec'],
      dataFileBytes: config['load.data_file_bytes'],
      rowGroupRows: config['load.row_group_rows'],
      onProgress: request.onProgress,
      signal,
    },
  );
  try {
    for (const input of inputs) selectColumns(schema, input);
    const files = await writer.write(inputs);
    signal.throwIfAborted();
    const commit = { name, mode: target.mode, base, schema, spec, files };
    const snapshotId = await commitFiles(catalog, fileStorage, commit, config['catalog.commit_retries_max']);
    return { snapshotId, rows: files.reduce((sum, file) => sum + file.recordCount, 0), files: files.length };
  } catch (error) {
    if (!(error instanceof CommitStateUnknown)) await undo(catalog, name, target, writer);
    throw error;
  }
}

/** Removes what a failed load created. Errors are ignored, because the first error is the one to report. */
async function undo(
  catalog: RestCatalog,
  name: TableName,
  { base, mode, namespacesMade }: TargetTable,
  writer: DataFileWriter,
): Promise<void> {
  await ignoreErrors(() => writer.remove());
  if (mode === 'create') {
    for (const folder of ['/data', '/metadata', '']) {
      await ignoreErrors(() => rmdir(`${localPath(base.location)}${folder}`));
    }
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
