import { randomUUID } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import type { StageSink, UnloadedFile, UnloadedRows } from '#shared/task/task.ts';
import { SkeinError } from '#shared/error.ts';
import { quotePath } from '#shared/sql/read-parquet.ts';
import { UPLOADS_FOLDER } from '#shared/stage/stage-folders.ts';
import { fileName, isWithin } from '#shared/storage/location.ts';
import type { ListedFile, Storage } from '#shared/storage/storage.ts';
import { duckdb } from '../duckdb/library.ts';
import { readCounts, readTexts } from '../duckdb/read-values.ts';
import { fileNumber, printUnload } from '../write/print-unload.ts';
import { writingPlace } from '../write/writing-place.ts';
import { TASK_FILES_MAX, type WriteTools } from '../write/write-table.ts';

/**
 * Writes the rows of a task's text as files for a stage, into a folder of the upload; what is reported is on the disk. After a failure the
 * files are deleted. @throws the errors of DuckDB, STATEMENT_TOO_COMPLEX for too many files, STORAGE_FULL
 */
export async function writeStage(sql: string, sink: StageSink, tools: WriteTools): Promise<UnloadedRows> {
  const isOwn = sink.allowedRoots.some((root) => isWithin(sink.folder, `${root}/${UPLOADS_FOLDER}`));
  if (!isOwn) throw new SkeinError('INVALID_TABLE_DATA', 'the folder of an upload lies outside of its stage');
  const place = writingPlace(sink, tools);
  const { storage } = place;
  const folder = `${place.folder}/${randomUUID()}`;
  const path = storage.localPath(folder);
  try {
    await storage.makeFolder(folder);
    const rows = await copy(printUnload(sql, sink, path), sink, tools);
    const files = await filesIn(folder, storage);
    if (rows === 0) {
      await remove(folder, storage);
      return { rows, files: [] };
    }
    for (const { location } of files) await storage.sync(location);
    const unloaded = await place.publish(tools.signal, await withPlainBytes(files, sink, { storage, tools }));
    if (place.isApart) await remove(folder, storage);
    return { rows, files: unloaded };
  } catch (error) {
    // Best effort: whatever stays is deleted when the coordinator has ended the unload.
    await remove(folder, storage).catch(() => undefined);
    await place.takeBack();
    throw error;
  }
}

/** @returns the number of rows */
async function copy(sql: string, { keepsOrder }: StageSink, { connection, run }: WriteTools): Promise<number> {
  connection.run(`SET preserve_insertion_order = ${keepsOrder}`);
  let rows = 0;
  await run(sql, 'copy', (chunk) => {
    rows += readCounts(duckdb.data_chunk_get_vector(chunk, 0), 1)[0] ?? 0;
  });
  return rows;
}

/** The files of a COPY, in its order. */
async function filesIn(folder: string, storage: Storage): Promise<readonly ListedFile[]> {
  const files: ListedFile[] = [];
  for await (const page of storage.listFiles(folder)) {
    files.push(...page);
    if (files.length <= TASK_FILES_MAX) continue;
    const message = `a task of the statement wrote more than ${TASK_FILES_MAX} files: MAX_FILE_SIZE is too small`;
    throw new SkeinError('STATEMENT_TOO_COMPLEX', message);
  }
  const numberOf = ({ location }: ListedFile): number => fileNumber(fileName(location));
  return files.toSorted((a, b) => numberOf(a) - numberOf(b));
}

async function remove(folder: string, storage: Storage): Promise<void> {
  for await (const files of storage.list(folder)) await storage.remove(files);
  await storage.removeEmptyFolders(folder);
}

async function withPlainBytes(
  files: readonly ListedFile[],
  { format: { kind, compression } }: StageSink,
  { storage, tools }: { readonly storage: Storage; readonly tools: WriteTools },
): Promise<readonly UnloadedFile[]> {
  const plain = kind === 'parquet' ? await parquetBytes(files, storage, tools) : new Map<string, number>();
  const unloaded: UnloadedFile[] = [];
  for (const { location, sizeBytes } of files) {
    const isPacked = kind !== 'parquet' && compression !== 'none';
    const plainBytes = isPacked
      ? await inflatedBytes(bytesOf(location, storage), compression, tools)
      : (plain.get(location) ?? sizeBytes);
    unloaded.push({ path: location, sizeBytes, plainBytes });
  }
  return unloaded;
}

/** The uncompressed sizes of Parquet files' column chunks, by location. */
async function parquetBytes(
  files: readonly ListedFile[],
  storage: Storage,
  { run }: WriteTools,
): Promise<Map<string, number>> {
  const byPath = new Map(files.map(({ location }) => [storage.localPath(location), location]));
  const list = [...byPath.keys()].map(quotePath).join(', ');
  const sizes = `SELECT file_name, sum(total_uncompressed_size)::VARCHAR FROM parquet_metadata([${list}]) GROUP BY file_name`;
  const bytes = new Map<string, number>();
  await run(sizes, 'query', (chunk) => {
    const rows = Number(duckdb.data_chunk_get_size(chunk));
    const [paths = [], sums = []] = [0, 1].map((i) => readTexts(duckdb.data_chunk_get_vector(chunk, i), rows));
    for (const [i, path] of paths.entries()) bytes.set(byPath.get(path) ?? '', Number(sums[i]));
  });
  return bytes;
}

/** Bytes of a file that are in memory at once while it is read. */
const CHUNK_BYTES = 1024 * 1024;

async function* bytesOf(location: string, storage: Storage): AsyncGenerator<Buffer> {
  await using file = await storage.openFile(location, 0);
  for (let at = 0; at < file.sizeBytes; at += CHUNK_BYTES) yield file.read(at, CHUNK_BYTES);
}

/** The number of bytes that `chunks` are without compression: DuckDB does not say it. */
async function inflatedBytes(chunks: AsyncIterable<Buffer>, packed: string, { signal }: WriteTools): Promise<number> {
  let bytes = 0;
  const count = async (inflated: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of inflated) bytes += chunk.length;
  };
  await pipeline(chunks, packed === 'gzip' ? createGunzip() : createZstdDecompress(), count, { signal });
  return bytes;
}
