import { randomUUID } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Literal } from '#shared/iceberg/predicate.ts';
import type { NewDataFile } from '#shared/iceberg/write/data-file.ts';
import { stringBounds } from '#shared/iceberg/write/string-bounds.ts';
import { partitionTypes } from '#shared/iceberg/write/write-manifest.ts';
import { quotePath, readParquet } from '#shared/sql/read-parquet.ts';
import { withoutTrailingSlash } from '#shared/storage/location.ts';
import type { Storage } from '#shared/storage/storage.ts';
import { requireWritable } from './field-ids.ts';
import {
  leavesOf,
  parseStatistic,
  setBounds,
  toStatistics,
  type FileStatistics,
  type Leaf,
  type OpenQuestion,
  type RawStatistics,
} from './file-statistics.ts';
import { printCopy, printPartition, type FileFormat, type WrittenTable } from './print-copy.ts';
import { parsePartitionText } from './transform-sql.ts';

/**
 * Runs SQL in the DuckDB that writes. Rows are objects by column; 64-bit numbers are strings, a map is a list of `{key, value}`. The
 * instance has the hash functions of `transform-sql.ts`.
 */
export interface WriteDatabase {
  query(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

type CopyRow = {
  readonly filename: string;
  readonly count: string;
  readonly file_size_bytes: string;
  readonly column_statistics: readonly {
    readonly key: string;
    readonly value: readonly { readonly key: string; readonly value: string }[];
  }[];
};

/**
 * Writes rows as data files of one table, and returns for each file its manifest entry. The files are not part of the table until they are
 * committed; `remove` deletes them all.
 */
export class TableFileWriter {
  readonly #database: WriteDatabase;
  readonly #storage: Storage;
  readonly #table: WrittenTable;
  readonly #format: FileFormat;
  readonly #folder: string;
  readonly #leaves: readonly Leaf[];
  readonly #writeId = randomUUID();
  /** Paths of all files created, and of the folders that hold them until they are moved. */
  readonly #made: string[] = [];
  readonly #temporary: string[] = [];
  #files = 0;

  /** @throws NOT_SUPPORTED naming a column whose type cannot be written */
  constructor(database: WriteDatabase, storage: Storage, table: WrittenTable, format: FileFormat) {
    requireWritable(table.schema.fields);
    this.#database = database;
    this.#storage = storage;
    this.#table = table;
    this.#format = format;
    this.#folder = storage.localPath(table.folder);
    this.#leaves = leavesOf(table.schema);
  }

  /**
   * Writes the rows of a query: one file, or one for each partition; none where there are no rows.
   * @param query its columns are the table's, in name, type and order
   * @throws the errors of the database
   */
  async write(query: string): Promise<readonly NewDataFile[]> {
    await this.#storage.makeFolder(this.#table.folder);
    const isPartitioned = this.#table.spec.fields.length > 0;
    const path = isPartitioned ? join(this.#folder, `.${this.#writeId}`) : this.#newPath();
    (isPartitioned ? this.#temporary : this.#made).push(path);
    const rows = await this.#database.query(printCopy(query, this.#table, this.#format, path));
    const files: NewDataFile[] = [];
    for (const row of rows as unknown as readonly CopyRow[]) {
      if (row.count === '0') await this.#storage.remove([row.filename]);
      else files.push(await this.#toDataFile(row, isPartitioned));
    }
    if (isPartitioned) await this.#removeFolder(path);
    return files;
  }

  /** Deletes everything that was written. */
  async remove(): Promise<void> {
    for (const folder of this.#temporary) await this.#removeFolder(folder);
    await this.#storage.remove(this.#made);
  }

  async #removeFolder(folder: string): Promise<void> {
    for await (const files of this.#storage.list(folder)) await this.#storage.remove(files);
    await this.#storage.removeEmptyFolders(folder);
  }

  #newPath(): string {
    return join(this.#folder, `${this.#writeId}-${String(this.#files++).padStart(5, '0')}.parquet`);
  }

  async #toDataFile(row: CopyRow, isPartitioned: boolean): Promise<NewDataFile> {
    const source = readParquet([row.filename]);
    const raw = new Map<string, RawStatistics>(
      row.column_statistics.map(({ key, value }) => [key, new Map(value.map((one) => [one.key, one.value]))]),
    );
    const { statistics, open } = toStatistics(this.#leaves, raw);
    await this.#answer(source, statistics, open);
    const partition = isPartitioned ? await this.#readPartition(source) : [];
    const splitOffsets = await this.#readSplitOffsets(row.filename);
    const path = isPartitioned ? await this.#moveIn(row.filename) : row.filename;
    return {
      path: `${withoutTrailingSlash(this.#table.folder)}/${path.slice(this.#folder.length + 1)}`,
      recordCount: Number(row.count),
      sizeBytes: Number(row.file_size_bytes),
      partition,
      splitOffsets,
      ...statistics,
    };
  }

  /** Moves a file out of its partition folder, whose name may have characters that some clients cannot read. */
  async #moveIn(path: string): Promise<string> {
    const target = this.#newPath();
    this.#made.push(target);
    await rename(path, target);
    return target;
  }

  async #readPartition(source: string): Promise<readonly (Literal | null)[]> {
    const { schema, spec } = this.#table;
    const [values = []] = await this.#values(printPartition(schema, spec), `${source} LIMIT 1`);
    return partitionTypes(schema, spec).map((type, index) => parsePartitionText(type, values[index] as string | null));
  }

  async #readSplitOffsets(path: string): Promise<readonly number[]> {
    const rows = await this.#values(
      ['min(least(data_page_offset, coalesce(dictionary_page_offset, data_page_offset)))::DOUBLE'],
      `parquet_metadata(${quotePath(path)}) GROUP BY row_group_id ORDER BY 1`,
    );
    return rows.map(([offset]) => Number(offset));
  }

  /** Queries the file for the statistics that RETURN_STATS does not give. */
  async #answer(source: string, statistics: FileStatistics, open: readonly OpenQuestion[]): Promise<void> {
    for (const { leaf, what } of open) {
      const { field, key } = leaf;
      if (what === 'nan-count') {
        const [[count] = []] = await this.#values([`(count(*) FILTER (isnan(${key})))::VARCHAR`], source);
        statistics.nanCounts.set(field.id, Number(count));
        continue;
      }
      const isBinary = field.type.kind === 'binary';
      const list = ['min', 'max'].map((name) => (isBinary ? `hex(${name}(${key}))` : `${name}(${key})`));
      const [values = []] = await this.#values(list, source);
      const [min, max] = values.map((value) => parseStatistic(field.type, String(value)));
      setBounds(statistics, field, stringBounds(min, max));
    }
  }

  async #values(expressions: readonly string[], from: string): Promise<readonly (readonly unknown[])[]> {
    const list = expressions.map((expression, index) => `${expression} AS v${index}`).join(', ');
    const rows = await this.#database.query(`SELECT ${list} FROM ${from}`);
    return rows.map((row) => expressions.map((_expression, index) => row[`v${index}`]));
  }
}
