import { open } from 'node:fs/promises';
import {
  parquetMetadataAsync,
  type ColumnChunk,
  type FileMetaData,
  type SchemaElement,
  type Statistics,
} from 'hyparquet';
import { SkeinError } from '#shared/error.ts';
import type { TenantId } from '#shared/id.ts';
import type { ColumnStats } from '#shared/iceberg/may-match.ts';
import type { Literal } from '#shared/iceberg/predicate.ts';
import { localPath } from '#shared/storage/location.ts';

/** What a footer says of a file: its columns as a tree, and its row groups. */
export type Footer = {
  readonly fields: readonly FileField[];
  readonly rowGroups: readonly RowGroup[];
  /** Two files with equal texts have equal columns: names, types, ids and order. */
  readonly signature: string;
};

/** A column or a part of one; the groups that Parquet puts between a list and its elements are left out. */
export type FileField = {
  readonly name: string;
  /** Null in files of writers that know nothing of Iceberg, until a name mapping gives one. */
  readonly id: number | null;
  readonly kind: 'primitive' | 'struct' | 'list' | 'map';
  /** Of a struct its fields, of a list its element, of a map key and value. */
  readonly children: readonly FileField[];
  readonly element: SchemaElement;
  /** Column chunks `[first, end)` of each row group that hold it. */
  readonly leaves: { readonly first: number; readonly end: number };
};

export type RowGroup = {
  readonly startRow: number;
  readonly rows: number;
  /** Compressed, per leaf. */
  readonly bytes: readonly number[];
  readonly stats: readonly (ColumnStats | undefined)[];
};

/** Fetched in one read: most footers fit. */
const TAIL_BYTES = 64 * 1024;
/** A footer longer than this is no footer of ours to parse. */
const FOOTER_BYTES_MAX = 256 * 2 ** 20;
/** Leaves times row groups that the cache holds in all. */
const CACHE_CELLS_MAX = 2_000_000;

/** A file as a table refers to it. */
type FileReference = { readonly path: string; readonly sizeBytes: number };

/** The footer of a file. @throws STORAGE_ERROR when it cannot be read, INVALID_TABLE_DATA when it is no Parquet file. */
export type ReadFooter = (file: FileReference) => Promise<Footer>;

/** The table that refers to a file, and its tenant. */
type Owner = { readonly tenant: TenantId; readonly tableUuid: string };

/**
 * Footers of immutable files, the latest used kept. One per thread. A footer belongs to the table whose scan read it: a path that was one
 * table's may be another's later, of another tenant even, and then another file lies there.
 */
export class FooterCache {
  readonly #footers = new Map<string, Footer>();
  #cells = 0;

  of({ tenant, tableUuid }: Owner): ReadFooter {
    return ({ path, sizeBytes }) => this.#read(JSON.stringify([tenant, tableUuid, sizeBytes, path]), path);
  }

  async #read(key: string, location: string): Promise<Footer> {
    const cached = this.#footers.get(key);
    if (cached !== undefined) {
      this.#footers.delete(key);
      this.#footers.set(key, cached);
      return cached;
    }
    const footer = await readFooter(localPath(location));
    // Two readers may have come at the same time.
    if (!this.#footers.has(key)) this.#cells += cellsOf(footer);
    this.#footers.set(key, footer);
    this.#evict();
    return footer;
  }

  #evict(): void {
    for (const [key, footer] of this.#footers) {
      if (this.#cells <= CACHE_CELLS_MAX) return;
      this.#footers.delete(key);
      this.#cells -= cellsOf(footer);
    }
  }
}

const cellsOf = ({ rowGroups }: Footer): number => 1 + rowGroups.length * (1 + (rowGroups[0]?.bytes.length ?? 0));

async function readFooter(path: string): Promise<Footer> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  let metadata: FileMetaData;
  try {
    await using file = await open(path, 'r');
    const { size: byteLength } = await file.stat();
    const slice = async (start: number, end = byteLength): Promise<ArrayBuffer> => {
      const length = Math.max(0, end - start);
      if (length > FOOTER_BYTES_MAX) throw new Error('the footer is too long');
      const bytes = new Uint8Array(length);
      const { bytesRead } = await file.read(bytes, 0, length, start);
      if (bytesRead !== length) throw new Error('the file is cut short');
      return bytes.buffer;
    };
    if (byteLength < 12) throw new Error('the file is too short');
    metadata = await parquetMetadataAsync(
      { byteLength, slice },
      { parsers: RAW_PARSERS, initialFetchSize: TAIL_BYTES, geoparquet: false },
    );
    return toFooter(metadata);
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException).code === 'string' && !(error instanceof SkeinError)) {
      throw new SkeinError('STORAGE_ERROR', `cannot read the data file ${name}`, { cause: error });
    }
    throw new SkeinError('INVALID_TABLE_DATA', `${name} is not a valid Parquet file`, { cause: error });
  }
}

/** Bounds stay what they are in the file: days, units of time and text, as `Literal` has them. */
const RAW_PARSERS = {
  timestampFromMilliseconds: (millis: bigint) => (millis * 1000n) as unknown as Date,
  timestampFromMicroseconds: (micros: bigint) => micros as unknown as Date,
  timestampFromNanoseconds: (nanos: bigint) => nanos as unknown as Date,
  dateFromDays: (days: number) => BigInt(days) as unknown as Date,
  uuidFromBytes: (bytes: Uint8Array | undefined) => bytes as unknown as string,
};

function toFooter(metadata: FileMetaData): Footer {
  const fields = readTree(metadata.schema);
  const leaves = metadata.schema.filter((element) => element.type !== undefined);
  let startRow = 0;
  const rowGroups = metadata.row_groups.map((group): RowGroup => {
    const rows = Number(group.num_rows);
    const start = startRow;
    startRow += rows;
    return {
      startRow: start,
      rows,
      bytes: group.columns.map((chunk) => Number(chunk.meta_data?.total_compressed_size ?? 0)),
      stats: group.columns.map((chunk, leaf) => statsOf(chunk, leaves[leaf], rows)),
    };
  });
  return { fields, rowGroups, signature: JSON.stringify(metadata.schema) };
}

function readTree(schema: readonly SchemaElement[]): readonly FileField[] {
  let next = 0;
  let leaf = 0;
  const readNode = (): FileField => {
    const element = schema[next++];
    if (element === undefined) throw new Error('the schema ends early');
    const first = leaf;
    if (element.type !== undefined) leaf++;
    const children = Array.from({ length: element.num_children ?? 0 }, readNode);
    return nodeOf(element, children, { first, end: leaf });
  };
  return readNode().children;
}

function nodeOf(element: SchemaElement, children: readonly FileField[], leaves: FileField['leaves']): FileField {
  const node = { name: element.name, id: element.field_id ?? null, element, leaves };
  if (element.type !== undefined) return { ...node, kind: 'primitive', children: [] };
  const annotation = element.logical_type?.type ?? element.converted_type;
  const [repeated] = children;
  if (annotation === 'LIST' && repeated !== undefined) {
    // The rules for lists of older writers (Parquet, LogicalTypes.md): the repeated group may be the element itself.
    const [inner] = repeated.children;
    const wrapped = repeated.children.length === 1 && repeated.name !== 'array' && !repeated.name.endsWith('_tuple');
    return { ...node, kind: 'list', children: [wrapped && inner !== undefined ? inner : repeated] };
  }
  if ((annotation === 'MAP' || annotation === 'MAP_KEY_VALUE') && repeated !== undefined) {
    return { ...node, kind: 'map', children: repeated.children };
  }
  return { ...node, kind: 'struct', children };
}

function statsOf(chunk: ColumnChunk, element: SchemaElement | undefined, rows: number): ColumnStats | undefined {
  const stats = chunk.meta_data?.statistics;
  if (stats === undefined || element === undefined) return undefined;
  return {
    lower: bound(stats, 'min', element),
    upper: bound(stats, 'max', element),
    nullCount: stats.null_count === undefined ? undefined : Number(stats.null_count),
    valueCount: rows,
  };
}

/** The bound as a literal of the Iceberg type; undefined when it may not be trusted or is of a type without bounds here. */
function bound(stats: Statistics, which: 'min' | 'max', element: SchemaElement): Literal | undefined {
  const textual = element.type === 'BYTE_ARRAY' || element.type === 'FIXED_LEN_BYTE_ARRAY';
  // The older members were ordered as signed bytes.
  const value = stats[`${which}_value`] ?? (textual ? undefined : stats[which]);
  if (value === undefined || element.type === 'INT96') return undefined;
  const annotation = element.logical_type?.type ?? element.converted_type;
  if (annotation === 'DECIMAL') return unscaled(value, element.scale ?? 0);
  if (annotation === 'TIME' || annotation === 'TIME_MILLIS') return undefined;
  if (typeof value === 'boolean' || typeof value === 'bigint') return value;
  if (typeof value === 'number') return element.type === 'INT32' ? BigInt(value) : value;
  // A text that was cut inside of a character is no bound.
  if (typeof value === 'string') return value.includes('\ufffd') || annotation === undefined ? undefined : value;
  return undefined;
}

/** The parser divides decimals into doubles: below 2^52 the digits come back whole. */
function unscaled(value: Statistics['min'], scale: number): bigint | undefined {
  if (typeof value !== 'number') return undefined;
  const digits = Math.round(value * 10 ** scale);
  return Math.abs(digits) < 2 ** 50 ? BigInt(digits) : undefined;
}
