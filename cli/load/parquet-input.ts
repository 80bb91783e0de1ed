import { glob, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { DuckDBConnection, DuckDBType } from '@duckdb/node-api';
import { SkeinError } from '#shared/error.ts';
import { readParquet } from '#shared/sql/read-parquet.ts';

/** A Parquet file to load. */
export type InputFile = {
  readonly path: string;
  readonly sizeBytes: number;
  readonly rows: number;
  readonly columns: readonly InputColumn[];
};

export type InputColumn = { readonly name: string; readonly type: DuckDBType };

/** Most input files of one load. */
const FILES_MAX = 100_000;

/** Expands globs and paths: each file once, those of a glob sorted. @throws INVALID_INPUT_FILE naming a pattern without matches */
export async function findInputs(globs: readonly string[]): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const pattern of globs) {
    const paths = await expand(pattern);
    if (paths.length === 0) throw new SkeinError('INVALID_INPUT_FILE', `no such file: ${pattern}`);
    for (const path of paths) found.add(path);
    if (found.size > FILES_MAX) throw new SkeinError('INVALID_INPUT_FILE', `more than ${FILES_MAX} input files`);
  }
  return [...found];
}

async function expand(pattern: string): Promise<readonly string[]> {
  const plain = await stat(pattern).catch(() => undefined);
  if (plain?.isFile() === true) return [resolve(pattern)];
  const paths: string[] = [];
  for await (const path of glob(pattern)) {
    if ((await stat(path)).isFile()) paths.push(resolve(path));
    if (paths.length > FILES_MAX) break;
  }
  return paths.sort();
}

/** Reads the footers. @throws INVALID_INPUT_FILE naming the first file that is not Parquet or has other columns than the first */
export async function inspectInputs(
  connection: DuckDBConnection,
  paths: readonly string[],
): Promise<readonly InputFile[]> {
  const files: InputFile[] = [];
  for (const path of paths) {
    const file = await inspect(connection, path);
    const first = files[0] ?? file;
    const difference = columnDifference(first.columns, file.columns);
    if (difference !== undefined) {
      throw new SkeinError('INVALID_INPUT_FILE', `${path} has another schema than ${first.path}: ${difference}`);
    }
    files.push(file);
  }
  return files;
}

async function inspect(connection: DuckDBConnection, path: string): Promise<InputFile> {
  try {
    const { size } = await stat(path);
    const head = await connection.runAndReadAll(`SELECT * FROM ${readParquet([path])} LIMIT 0`);
    const types = head.columnTypes();
    const columns = head.columnNames().map((name, index) => ({ name, type: typeAt(types, index) }));
    const count = await connection.runAndReadAll(`SELECT count(*)::DOUBLE FROM ${readParquet([path])}`);
    const [[rows] = []] = count.getRows();
    return { path, sizeBytes: size, rows: Number(rows), columns };
  } catch (cause) {
    throw new SkeinError('INVALID_INPUT_FILE', `${path} cannot be read as Parquet: ${firstLine(cause)}`, { cause });
  }
}

function typeAt(types: readonly DuckDBType[], index: number): DuckDBType {
  const type = types[index];
  if (type === undefined) throw new Error('invariant: a result has as many types as names');
  return type;
}

/** Describes the first difference in column names or types; the order of columns does not matter. */
function columnDifference(wanted: readonly InputColumn[], found: readonly InputColumn[]): string | undefined {
  const byName = new Map(found.map((column) => [column.name, column.type]));
  for (const { name, type } of wanted) {
    const other = byName.get(name);
    if (other === undefined) return `column ${name} is missing`;
    if (other.toString() !== type.toString()) return `column ${name} is ${other.toString()}, not ${type.toString()}`;
    byName.delete(name);
  }
  const [extra] = byName.keys();
  return extra === undefined ? undefined : `column ${extra} is new`;
}

/** Finds the first input file whose rows cannot be decoded, because a failed COPY does not always name it. */
export async function findCorrupt(
  connection: DuckDBConnection,
  files: readonly InputFile[],
): Promise<SkeinError | undefined> {
  for (const { path } of files) {
    try {
      await connection.run(`SELECT count(COLUMNS(*)) FROM ${readParquet([path])}`);
    } catch (cause) {
      return new SkeinError('INVALID_INPUT_FILE', `${path} is corrupt: ${firstLine(cause)}`, { cause });
    }
  }
  return undefined;
}

/** The first line of DuckDB's message. */
export const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
