import { randomUUID } from 'node:crypto';
import type { PartitionSpec } from '#shared/iceberg/partition-spec.ts';
import type { Schema } from '#shared/iceberg/schema.ts';
import { DEFAULT_CODEC } from '#shared/iceberg/write/default-codec.ts';
import { must } from '#shared/must.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { printFieldIds } from './field-ids.ts';
import { leavesOf } from './file-statistics.ts';
import { partitionKeySql, transformSql } from './transform-sql.ts';

/** The table that files are written for. */
export type CopyTarget = {
  readonly schema: Schema;
  readonly spec: PartitionSpec;
  /** Location below which the files go: that of this write alone. */
  readonly folder: string;
};

export type FileFormat = {
  /** The table's `write.parquet.compression-codec`; an unknown codec is replaced by the default. */
  readonly codec: string | undefined;
  /** The table's `write.parquet.compression-level`; only zstd has levels here. */
  readonly level: string | undefined;
  readonly rowGroupRows: number;
  /** Size at which a file ends and the next one begins; null = the caller gives a file's rows at a time. Of no use in partitions. */
  readonly fileBytes: number | null;
};

/** Codecs by the names of `write.parquet.compression-codec`. */
const CODECS: ReadonlyMap<string, string> = new Map([
  ['snappy', 'snappy'],
  ['zstd', 'zstd'],
  ['gzip', 'gzip'],
  ['lz4', 'lz4_raw'],
  ['brotli', 'brotli'],
  ['uncompressed', 'uncompressed'],
]);

const ZSTD_LEVEL_MAX = 22;

/** Begins the names of the columns that divide rows by partition. */
const PARTITION_KEY = 'partition_key_';

/**
 * Prints the COPY that writes a query's rows as data files, with field ids and statistics, into the folder `path`; of a partitioned table a
 * file for each partition. Folders of partitions are not made: readers that look for `name=value` in paths would find a column there.
 * @param query its columns are the table's, in name, type and order
 */
export function printCopy(query: string, { schema, spec }: CopyTarget, format: FileFormat, path: string): string {
  const options = [
    'FORMAT parquet',
    ...compression(format),
    `ROW_GROUP_SIZE ${format.rowGroupRows}`,
    `FIELD_IDS ${printFieldIds(schema.fields)}`,
    'RETURN_STATS true',
  ];
  if (spec.fields.length === 0) {
    const isOne = format.fileBytes === null;
    if (!isOne) options.push(`FILE_SIZE_BYTES ${format.fileBytes}`, "FILENAME_PATTERN '{uuid}'");
    const target = quoteLiteral(isOne ? `${path}/${randomUUID()}.parquet` : path);
    return `COPY (${query}\n) TO ${target} (${options.join(', ')})`;
  }
  const keys = printTransforms(schema, spec, partitionKeySql);
  const names = keys.map((_, i) => quoteIdentifier(unusedName(`${PARTITION_KEY}${i}`, schema)));
  options.push(
    `PARTITION_BY (${names.join(', ')})`,
    'WRITE_PARTITION_COLUMNS false',
    'HIVE_FILE_PATTERN false',
    "FILENAME_PATTERN '{uuid}'",
  );
  const columns = keys.map((key, i) => `${key} AS ${names[i]}`);
  return `COPY (SELECT *, ${columns.join(', ')} FROM (${query}\n)) TO ${quoteLiteral(path)} (${options.join(', ')})`;
}

function compression({ codec, level = '' }: FileFormat): readonly string[] {
  const name = CODECS.get(codec?.toLowerCase() ?? '') ?? DEFAULT_CODEC;
  const isLevel = name === 'zstd' && /^\d{1,2}$/.test(level) && Number(level) >= 1 && Number(level) <= ZSTD_LEVEL_MAX;
  return [`COMPRESSION ${name}`, ...(isLevel ? [`COMPRESSION_LEVEL ${Number(level)}`] : [])];
}

/** A name that no column of the table has. */
export function unusedName(name: string, { fields }: Schema): string {
  const used = new Set(fields.map((field) => foldIdentifier(field.name)));
  let unused = name;
  while (used.has(unused)) unused += '_';
  return unused;
}

/** SQL expressions for the partition values of a row, as text. */
export const printPartition = (schema: Schema, spec: PartitionSpec): readonly string[] =>
  printTransforms(schema, spec, transformSql);

function printTransforms(schema: Schema, spec: PartitionSpec, print: typeof transformSql): readonly string[] {
  const leaves = leavesOf(schema);
  return spec.fields.map(({ transform, sourceId }) => {
    const leaf = must(
      leaves.find(({ field }) => field.id === sourceId),
      'a spec names a column',
    );
    return print(transform, leaf.field.type, leaf.key);
  });
}
