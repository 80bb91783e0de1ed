import { randomUUID } from 'node:crypto';
import type { Literal } from '#shared/iceberg/predicate.ts';
import { STAGED_PREFIX } from '#shared/iceberg/table-folders.ts';
import type { NewDataFile } from '#shared/iceberg/write/data-file.ts';
import { requireWritable } from '#shared/iceberg/write/require-writable.ts';
import { stringBounds } from '#shared/iceberg/write/string-bounds.ts';
import { partitionTypes } from '#shared/iceberg/write/manifest-rows.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { quotePath, readParquet } from '#shared/sql/read-parquet.ts';
import type { Storage } from '#shared/storage/storage.ts';
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
import { printCopy, printPartition, unusedName, type FileFormat, type CopyTarget } from './print-copy.ts';
import { parsePartitionText } from './transform-sql.ts';

/** One file of a `COPY ... (RETURN_STATS)`. */
export type CopiedFile = {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  /** By column, then by the statistic's name. */
  readonly statistics: ReadonlyMap<string, RawStatistics>;
};

/** The offsets of a file's row groups, and the leaves of REAL and DOUBLE of which some row group has no bounds. */
type FooterFacts = { readonly splitOffsets: readonly number[]; readonly unbounded: ReadonlySet<number> };

type FileParts = Pick<NewDataFile, 'path' | 'partition' | 'splitOffsets'>;

/** The DuckDB that writes. It has the macros of `hash-macros.ts` when the table has buckets. */
export interface WriteDatabase {
  copy(sql: string): Promise<readonly CopiedFile[]>;
  /** The values of a query's one column, which is text. */
  texts(sql: string): Promise<readonly string[]>;
}

/**
 * Writes rows as data files of one table, and returns for each file its manifest entry. The files are not part of the table until they are
 * committed; `remove` deletes them all.
 * ```
 * folder of the write / folder of a COPY / uuid.parquet
 * ```
 * The folder of the write is that of all its tasks, and stays: a COPY of another one may be about to open its first file.
 */
export class TableFileWriter {
  readonly #database: WriteDatabase;
  readonly #storage: Storage;
  readonly #table: CopyTarget;
  readonly #format: FileFormat;
  readonly #leaves: readonly Leaf[];
  /** The folders of all COPYs so far. */
  readonly #made: string[] = [];
  /** Those of files that are read again, and then go. */
  readonly #staged: string[] = [];

  /** @throws NOT_SUPPORTED naming a column whose type cannot be written */
  constructor(database: WriteDatabase, storage: Storage, table: CopyTarget, format: FileFormat) {
    requireWritable(table.schema.fields);
    this.#database = database;
    this.#storage = storage;
    this.#table = table;
    this.#format = format;
    this.#leaves = leavesOf(table.schema);
  }

  /**
   * Writes the rows of a query; of a partitioned table one file for each partition, and none where there are no rows.
   * @param query its columns are the table's, in name, type and order
   * @throws the errors of the database
   */
  async write(query: string): Promise<readonly NewDataFile[]> {
    const name = randomUUID();
    const folder = `${this.#table.folder}/${name}`;
    this.#made.push(folder);
    await this.#storage.makeFolder(folder);
    const path = this.#storage.localPath(folder);
    const copied = await this.#database.copy(printCopy(query, this.#table, this.#format, path));
    const place = ({ path: file }: CopiedFile): string => `${folder}/${file.slice(path.length + 1)}`;
    await this.#storage.remove(copied.filter(({ rows }) => rows === 0).map(place));
    const filled = copied.filter(({ rows }) => rows > 0);
    const partitions = await this.#readPartitions(filled);
    const footers = await this.#readFooters(filled);
    const files: NewDataFile[] = [];
    for (const file of filled) {
      const { splitOffsets, unbounded } = footers.get(file.path) ?? { splitOffsets: [], unbounded: new Set() };
      const parts = { partition: partitions.get(file.path) ?? [], splitOffsets };
      files.push({ path: place(file), ...parts, ...(await this.#counts(file, unbounded)) });
    }
    if (files.length === 0) await this.#storage.removeEmptyFolders(folder);
    return files;
  }

  /** Writes the rows of a query into one file that does not belong to the table. @returns the text to read it in FROM */
  async stage(query: string): Promise<string> {
    const folder = `${this.#table.folder}/${randomUUID()}`;
    this.#made.push(folder);
    this.#staged.push(folder);
    await this.#storage.makeFolder(folder);
    const path = `${this.#storage.localPath(folder)}/${STAGED_PREFIX}.parquet`;
    await this.#database.copy(
      `COPY (${query}\n) TO ${quoteLiteral(path)} (FORMAT parquet, COMPRESSION lz4_raw, RETURN_STATS true)`,
    );
    return readParquet([path]);
  }

  /** Deletes what was staged. */
  async clear(): Promise<void> {
    for (const folder of this.#staged) {
      await this.#storage.remove([`${folder}/${STAGED_PREFIX}.parquet`]);
      await this.#storage.removeEmptyFolders(folder);
    }
  }

  /** Deletes everything that was written. */
  async remove(): Promise<void> {
    for (const folder of this.#made) {
      for await (const files of this.#storage.list(folder)) await this.#storage.remove(files);
      await this.#storage.removeEmptyFolders(folder);
    }
  }

  async #counts(
    { path, rows, bytes, statistics: raw }: CopiedFile,
    unbounded: ReadonlySet<number>,
  ): Promise<Omit<NewDataFile, keyof FileParts>> {
    const { statistics, open } = toStatistics(this.#leaves, raw, unbounded);
    await this.#answer(readParquet([path]), statistics, open);
    return { recordCount: rows, sizeBytes: bytes, ...statistics };
  }

  /** The partition of each file, by its path: that of its first row. One query for all, because to bind the transforms takes long. */
  async #readPartitions(files: readonly CopiedFile[]): Promise<ReadonlyMap<string, readonly (Literal | null)[]>> {
    const { schema, spec } = this.#table;
    if (spec.fields.length === 0 || files.length === 0) return new Map();
    const types = partitionTypes(schema, spec);
    // A column of the table may have these names.
    const [name, row] = [unusedName('filename', schema), 'file_row_number'];
    const isFree = unusedName(row, schema) === row;
    const source = readParquet(
      files.map(({ path }) => path),
      `, filename = ${quoteLiteral(name)}${isFree ? `, ${row} = true` : ''}`,
    );
    const rows = await this.#values(
      [quoteIdentifier(name), ...printPartition(schema, spec)],
      isFree ? `${source} WHERE ${row} = 0` : source,
    );
    return new Map(
      rows.map(([path, ...values]) => [
        String(path),
        types.map((type, index) => parsePartitionText(type, values[index] as string | null)),
      ]),
    );
  }

  /** Facts of the files' row groups from their footers, by the path of the file. */
  async #readFooters(files: readonly CopiedFile[]): Promise<ReadonlyMap<string, FooterFacts>> {
    if (files.length === 0) return new Map();
    const rows = await this.#values(
      [
        'file_name',
        'min(least(data_page_offset, coalesce(dictionary_page_offset, data_page_offset)))::DOUBLE',
        `list(column_id) FILTER (type IN ('FLOAT', 'DOUBLE') AND stats_min_value IS NULL)`,
      ],
      `parquet_metadata([${files.map(({ path }) => quotePath(path)).join(', ')}])
        GROUP BY file_name, row_group_id ORDER BY file_name, row_group_id`,
    );
    const facts = Map.groupBy(rows, ([path]) => String(path));
    return new Map(
      Array.from(facts, ([path, groups]) => [
        path,
        {
          splitOffsets: groups.map(([, offset]) => Number(offset)),
          unbounded: new Set(groups.flatMap(([, , leaves]) => (leaves as readonly number[] | null) ?? [])),
        },
      ]),
    );
  }

  /** Queries the file for the statistics that RETURN_STATS does not give. */
  async #answer(source: string, statistics: FileStatistics, open: readonly OpenQuestion[]): Promise<void> {
    for (const { leaf, what } of open) {
      const { field, key } = leaf;
      if (what === 'null-count') {
        const [[values] = []] = await this.#values([`sum(${leaf.valuesSql})::VARCHAR`], source);
        statistics.nullCounts.set(field.id, (statistics.valueCounts.get(field.id) ?? 0) - Number(values));
        continue;
      }
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
    const rows = await this.#database.texts(
      `SELECT CAST(json_array(${expressions.join(', ')}) AS VARCHAR) FROM ${from}`,
    );
    return rows.map((row) => JSON.parse(row) as readonly unknown[]);
  }
}
