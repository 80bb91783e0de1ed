import { lstatSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { quoteLiteral } from '#shared/sql/quote.ts';
import { readParquet } from '#shared/sql/read-parquet.ts';

/** The file, the place of its copy, and the bytes that the copy may have. */
export type CopyRequest = {
  readonly source: string;
  /** Where the file lies without links; null = it is the worker's own. */
  readonly real: string | null;
  readonly target: string;
  readonly bytesMax: number;
};
/** The copy's size in bytes, or why there is none. */
export type CopyReply = { readonly bytes: number } | { readonly refused: string };

/** Memory of DuckDB for one copy: a row group as it is read, and one as it is written. */
const MEMORY = '512MB';
const SIZE_INTERVAL_MS = 50;
/** Types whose values DuckDB writes to a file as it reads them from one. */
const KEPT_TYPES =
  /^(?:BOOLEAN|U?(?:TINYINT|SMALLINT|INTEGER|BIGINT)|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)|DATE|TIME|TIMESTAMP(?:_NS| WITH TIME ZONE)?|VARCHAR|BLOB|UUID)$/;

/**
 * Writes a Parquet file again without compression: the same columns and rows, in the same order. A copy of which DuckDB reads other columns than of
 * the file itself, or another number of rows, is not kept. Never rejects because of the file.
 */
export async function copyFile({ source, real, target, bytesMax }: CopyRequest): Promise<CopyReply> {
  const unfinished = `${target}.tmp`;
  const instance = await DuckDBInstance.create(':memory:', {
    threads: '1',
    memory_limit: MEMORY,
    temp_directory: '',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
  });
  const connection = await instance.connect();
  let isTooLarge = false;
  const watch = setInterval(() => {
    isTooLarge ||= sizeOf(unfinished) > bytesMax;
    if (isTooLarge) connection.interrupt();
  }, SIZE_INTERVAL_MS);
  try {
    const before = identityOf(source, real);
    const folders = [source, target].map((path) => quoteLiteral(dirname(path)));
    await connection.run(`SET allowed_directories = [${folders.join(', ')}]; SET enable_external_access = false`);
    const shape = await shapeOf(connection, source);
    const other = shape.types.find((type) => !KEPT_TYPES.test(type));
    if (other !== undefined) return { refused: `a column is ${other}` };
    // A Bloom filter knows 0.0 and -0.0 as different values (`worker/scan/misleading-columns.ts`, which looks at the file itself).
    const hasFloats = shape.types.some((type) => type === 'FLOAT' || type === 'DOUBLE');
    const options = `FORMAT parquet, COMPRESSION uncompressed, WRITE_BLOOM_FILTER ${!hasFloats}`;
    await connection.run(`COPY (FROM ${readParquet([source])}) TO ${quoteLiteral(unfinished)} (${options})`);
    if (JSON.stringify(await shapeOf(connection, unfinished)) !== JSON.stringify(shape)) {
      return { refused: 'the copy has other columns or rows' };
    }
    // DuckDB has opened the file by its path, which its tenant may have exchanged for a link meanwhile.
    if (before === undefined || identityOf(source, real) !== before)
      return { refused: 'it was changed while it was copied' };
    const bytes = sizeOf(unfinished);
    if (bytes > bytesMax) return { refused: 'it is too large' };
    renameSync(unfinished, target);
    return { bytes };
  } catch (error) {
    return { refused: isTooLarge ? 'it is too large' : String(error) };
  } finally {
    clearInterval(watch);
    connection.closeSync();
    instance.closeSync();
    rmSync(unfinished, { force: true });
  }
}

/** The inode at a path that leads where it should; undefined for another, and for none. */
function identityOf(path: string, real: string | null): string | undefined {
  if (real === null) return 'own';
  if (realpathSync.native(path) !== real) return undefined;
  const { dev, ino, ctimeNs } = lstatSync(real, { bigint: true });
  return `${dev} ${ino} ${ctimeNs}`;
}

type Shape = { readonly rows: string; readonly names: readonly string[]; readonly types: readonly string[] };

async function shapeOf(connection: DuckDBConnection, path: string): Promise<Shape> {
  const columns = await connection.runAndReadAll(
    `SELECT column_name, column_type FROM (DESCRIBE FROM ${readParquet([path])})`,
  );
  const [names = [], types = []] = columns.getColumns() as string[][];
  const rows = await connection.runAndReadAll(
    `SELECT sum(num_rows)::VARCHAR FROM parquet_file_metadata(${quoteLiteral(path)})`,
  );
  return { names, types, rows: String(rows.getRows()[0]?.[0]) };
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
