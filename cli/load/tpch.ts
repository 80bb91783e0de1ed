import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SkeinError } from '#shared/error.ts';
import { makePrivateFolder } from '#shared/storage/private-folder.ts';

/** TPC-H's tables, small ones first. */
export const TPCH_TABLES = [
  'region',
  'nation',
  'supplier',
  'customer',
  'part',
  'partsupp',
  'orders',
  'lineitem',
] as const;
export type TpchTable = (typeof TPCH_TABLES)[number];

/** The scale that comes with Skein, as Parquet files made by `tpchgen-cli`. */
const SHIPPED_SCALE = 0.01;
const SHIPPED = fileURLToPath(new URL('tpch-0.01/', import.meta.url));

/** Scale per generated file of a large table: bounds the data that is read, or lost, at once. */
const SCALE_PER_PART = 5;
const LARGE: ReadonlySet<string> = new Set(['lineitem', 'orders', 'partsupp']);
/** Most characters kept of the generator's messages. */
const MESSAGE_CHARS_MAX = 2_000;

/** The Parquet files of one table, and a function that removes them. */
export type TpchFiles = { readonly paths: readonly string[]; readonly remove: () => Promise<void> };

/** @throws INVALID_REQUEST when `tpchgen-cli` is needed and missing; the message says how to install it */
export async function requireScale(scale: string): Promise<void> {
  if (Number(scale) === SHIPPED_SCALE) return;
  await generate(['--version'], new AbortController().signal);
}

/** Returns the files of a table at a scale; scales other than the shipped one are generated below `folder`. */
export async function tpchFiles(
  table: TpchTable,
  scale: string,
  folder: string,
  signal: AbortSignal,
): Promise<TpchFiles> {
  if (Number(scale) === SHIPPED_SCALE) {
    return { paths: [join(SHIPPED, `${table}.parquet`)], remove: () => Promise.resolve() };
  }
  makePrivateFolder(folder);
  const output = await mkdtemp(join(folder, `tpch-${table}-`));
  const remove = (): Promise<void> => rm(output, { recursive: true, force: true });
  try {
    const parts = LARGE.has(table) ? Math.ceil(Number(scale) / SCALE_PER_PART) : 1;
    const split = parts > 1 ? [`--parts=${parts}`] : [];
    await generate(['parquet', '-s', scale, `--tables=${table}`, `--output-dir=${output}`, ...split], signal);
    return { paths: await parquetBelow(output), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Lists Parquet files in numeric order: `lineitem.2.parquet` before `lineitem.10.parquet`. */
async function parquetBelow(folder: string): Promise<readonly string[]> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.parquet'));
  return names.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).map((name) => join(folder, name));
}

function generate(args: readonly string[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('tpchgen-cli', args, { stdio: ['ignore', 'ignore', 'pipe'], signal });
    let message = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      message = (message + text).slice(-MESSAGE_CHARS_MAX);
    });
    child.on('error', (cause: NodeJS.ErrnoException) => {
      if (signal.aborted) reject(new SkeinError('QUERY_CANCELLED', 'the load was cancelled', { cause }));
      else reject(missingGenerator(cause));
    });
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new SkeinError('STORAGE_ERROR', `tpchgen-cli ended with ${code}: ${message.trim()}`));
    });
  });
}

const missingGenerator = (cause: Error): SkeinError =>
  new SkeinError(
    'INVALID_REQUEST',
    `only scale ${SHIPPED_SCALE} comes with Skein; other scales need tpchgen-cli 4 on the PATH: pip install tpchgen-cli`,
    { cause },
  );
