import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { SkeinError } from '#shared/error.ts';
import type { TenantId } from '#shared/id.ts';
import { Steps, tooComplex } from '#shared/iceberg/decode-limits.ts';
import type { ColumnStats } from '#shared/iceberg/may-match.ts';
import { must } from '#shared/must.ts';
import { FileNotFound, NotAFile, type Storage } from '#shared/storage/storage.ts';
import { SharedPlaces } from '#shared/thread/shared-places.ts';
import type { OpenScanned } from './readable-path.ts';
import { annotationOf, readSchemaElement, type SchemaElement } from './parquet-schema.ts';
import { readStatistics } from './parquet-statistics.ts';
import { corrupt, THRIFT, ThriftCursor } from './thrift-cursor.ts';

/** A decoded Parquet footer: the file's columns as a tree, and its row groups. */
export type Footer = {
  readonly fields: readonly FileField[];
  readonly rowGroups: readonly RowGroup[];
  /** Two files with equal texts have equal columns: names, types, ids and order. */
  readonly signature: string;
  /** DuckDB has written the file. */
  readonly isDuckDb: boolean;
  /** Leaves of which some column chunk has a Bloom filter. */
  readonly bloomed: ReadonlySet<number>;
  /** Leaves that are stored in a way which DuckDB does not read, and that way in words. */
  readonly unreadable: ReadonlyMap<number, string>;
  /** Approximate memory use, in bytes. */
  readonly bytes: number;
};

/** A column or a part of one; the groups that Parquet puts between a list and its elements are left out. */
export type FileField = {
  readonly name: string;
  /** Null in files of writers that know nothing of Iceberg, until a name mapping gives one. */
  readonly id: number | null;
  readonly kind: 'primitive' | 'struct' | 'list' | 'map';
  /** A struct's fields, a list's element, or a map's key and value. */
  readonly children: readonly FileField[];
  readonly element: SchemaElement;
  /** Column chunks `[first, end)` of each row group that hold it. */
  readonly leaves: { readonly first: number; readonly end: number };
};

export type RowGroup = {
  readonly startRow: number;
  readonly rows: number;
  /** Compressed bytes per leaf. */
  readonly bytes: Float64Array;
  /** Values per leaf: those of a list count one by one, and a NULL counts as a value. */
  readonly values: Float64Array;
  /** A column chunk is packed by a codec. */
  readonly isPacked: boolean;
  /** Statistics of a leaf's column chunk, decoded on demand; undefined when the file has none. */
  readonly stats: (leaf: number) => ColumnStats | undefined;
};

/** Bytes at the file's end fetched in the first read; most footers fit. */
const TAIL_BYTES = 64 * 1024;
/** Bytes of the metadata's length and the magic number. */
const TRAILER_BYTES = 8;
const MAGIC = 'PAR1';
/** `CompressionCodec` of chunks that are not packed. */
const UNCOMPRESSED = 0;
const FOOTER_BYTES_MAX = 64 * 2 ** 20;
/** Limit of columns and groups of columns in a file. DuckDB takes 20 microseconds to bind each. */
const ELEMENTS_MAX = 50_000;
/** Limit of nesting of column groups. */
const SCHEMA_DEPTH_MAX = 200;
const ROW_GROUPS_MAX = 100_000;
/** Limit of column chunks in a file. DuckDB takes a kilobyte for each, which its memory limit does not count. */
const CHUNKS_MAX = 500_000;
/** Limit of decoding steps, about a quarter of a second. A column chunk takes about 40 steps. */
const STEPS_MAX = 25_000_000;
/** Limit of steps to find and decode the statistics of one column chunk. */
const STATISTICS_STEPS_MAX = 1_000;
/** Bytes decoded between two turns of the event loop, because the thread runs other tasks, too. */
const BYTES_PER_TURN = 256 * 1024;
/** Limit of memory of the footers in the cache. */
const CACHE_BYTES_MAX = 64 * 2 ** 20;
/** Footers longer than `TAIL_BYTES` that a thread reads concurrently, each of a different tenant. */
const LARGE_AT_ONCE = 2;
const LARGE_WAITING_MAX = 10_000;
/** Approximate memory of each part of a decoded footer. */
const ELEMENT_BYTES = 400;
const GROUP_BYTES = 500;
const CHUNK_BYTES = 20;
/** Begins the name of the program that wrote a file, when that is DuckDB. */
const DUCKDB = 'DuckDB';

/** A file as a table refers to it. */
type FileReference = { readonly path: string; readonly sizeBytes: number };

/**
 * Reads the footer of a file. @throws STORAGE_ERROR when it cannot be read, INVALID_TABLE_DATA when it is no Parquet file,
 * TABLE_DATA_TOO_COMPLEX when it is beyond a limit
 */
export type ReadFooter = (file: FileReference) => Promise<Footer>;

/** Waits until a large footer may be read; the function it resolves to ends the turn. */
type TakeTurn = () => Promise<() => void>;

/** The table that refers to a file, its tenant, and the way to the file. */
type Owner = { readonly tenant: TenantId; readonly tableUuid: string; readonly open: OpenScanned };

/**
 * An LRU cache of the footers of immutable files, one per thread. A footer belongs to the table whose scan read it: a path may later
 * belong to another table, even of another tenant, and then hold another file.
 */
export class FooterCache {
  readonly #footers = new LRUCache<string, Footer>({
    maxSize: CACHE_BYTES_MAX,
    sizeCalculation: ({ bytes }) => Math.max(1, bytes),
  });
  readonly #large = new SharedPlaces(LARGE_AT_ONCE, LARGE_WAITING_MAX);

  of(signal: AbortSignal, { tenant, tableUuid, open }: Owner): ReadFooter {
    const large = (): Promise<() => void> => this.#large.take(tenant, signal);
    return async ({ path, sizeBytes }) => {
      const key = JSON.stringify([tenant, tableUuid, sizeBytes, path]);
      const cached = this.#footers.get(key);
      if (cached !== undefined) return cached;
      const footer = await readFooter(open(path), path, large);
      this.#footers.set(key, footer);
      return footer;
    };
  }
}

async function readFooter(storage: Storage, location: string, large: TakeTurn): Promise<Footer> {
  const name = location.slice(location.lastIndexOf('/') + 1);
  try {
    await using file = await storage.openFile(location, TAIL_BYTES);
    const { tail } = file;
    const length = metadataLength(tail, file.sizeBytes);
    const inTail = tail.length - TRAILER_BYTES - length;
    // Copied, because the decoded footer keeps its bytes and must not hold the whole tail.
    if (inTail >= 0) return await decodeFooter(Buffer.from(tail.subarray(inTail, inTail + length)));
    const leave = await large();
    try {
      const metadata = await file.read(file.sizeBytes - TRAILER_BYTES - length, length);
      if (metadata.length !== length) throw corrupt('the file is cut short');
      return await decodeFooter(metadata);
    } finally {
      leave();
    }
  } catch (error) {
    throw describe(name, error);
  }
}

/** Length in bytes of the struct `FileMetaData` at the end of the file. */
function metadataLength(tail: Buffer, sizeBytes: number): number {
  const isParquet = tail.length >= TRAILER_BYTES && tail.toString('latin1', tail.length - MAGIC.length) === MAGIC;
  if (!isParquet) throw corrupt('no magic number');
  const length = tail.readUInt32LE(tail.length - TRAILER_BYTES);
  if (length > sizeBytes - TRAILER_BYTES) throw corrupt('the footer is longer than the file');
  if (length > FOOTER_BYTES_MAX) throw tooComplex(`it is longer than ${FOOTER_BYTES_MAX} bytes`);
  return length;
}

function describe(name: string, error: unknown): unknown {
  if (error instanceof SkeinError && error.code === 'TABLE_DATA_TOO_COMPLEX') {
    return new SkeinError(error.code, `the footer of ${name}: ${error.message}`);
  }
  if (error instanceof NotAFile || (error instanceof SkeinError && error.code === 'INVALID_TABLE_DATA')) {
    return new SkeinError('INVALID_TABLE_DATA', `${name} is not a valid Parquet file`, { cause: error });
  }
  const isUnread = error instanceof FileNotFound || (error instanceof SkeinError && error.code === 'STORAGE_ERROR');
  if (!isUnread) return error;
  return new SkeinError('STORAGE_ERROR', `cannot read the data file ${name}`, { cause: error });
}

/**
 * Decodes a footer. It expects the schema before the row groups, as every writer puts them. @param bytes `FileMetaData`, kept by the footer
 * @throws INVALID_TABLE_DATA, TABLE_DATA_TOO_COMPLEX
 */
export async function decodeFooter(bytes: Buffer): Promise<Footer> {
  const steps = new Steps(STEPS_MAX);
  const cursor = new ThriftCursor(bytes, 0, steps);
  let schema: Schema | undefined;
  let rowGroups: readonly RowGroup[] = [];
  let isDuckDb = false;
  const bloomed = new Set<number>();
  const unreadable = new Map<number, string>();
  for (let field = cursor.readField(0); field !== undefined; field = cursor.readField(field.id)) {
    if (field.id === 2 && schema === undefined) schema = readSchema(cursor, field.type);
    else if (field.id === 4 && schema !== undefined && rowGroups.length === 0) {
      rowGroups = await readRowGroups(cursor, field.type, { leaves: schema.leaves, bloomed, unreadable });
    } else if (field.id === 6 && field.type === THRIFT.binary) {
      isDuckDb = cursor.readBinary().toString('latin1', 0, DUCKDB.length) === DUCKDB;
    } else cursor.skip(field.type);
  }
  if (schema === undefined) throw corrupt('there is no schema');
  const { fields, elements, leaves, signature } = schema;
  const made = elements * ELEMENT_BYTES + rowGroups.length * (GROUP_BYTES + leaves.length * CHUNK_BYTES);
  return { fields, rowGroups, signature, isDuckDb, bloomed, unreadable, bytes: bytes.length + made };
}

type Schema = Pick<Footer, 'fields' | 'signature'> & {
  readonly elements: number;
  readonly leaves: readonly SchemaElement[];
};

function readSchema(cursor: ThriftCursor, type: number): Schema {
  const start = cursor.offset;
  const elements: SchemaElement[] = [];
  const count = cursor.readStructList(type);
  if (count > ELEMENTS_MAX) throw tooComplex(`it has more than ${ELEMENTS_MAX} columns`);
  for (let i = 0; i < count; i++) elements.push(readSchemaElement(cursor));
  const signature = createHash('sha256').update(cursor.bytes.subarray(start, cursor.offset)).digest('base64');
  const leaves = elements.filter((element) => element.type !== undefined);
  return { fields: readTree(elements), elements: count, leaves, signature };
}

/** The leaves of the schema, and what reading the row groups finds of them. */
type Leaves = {
  readonly leaves: readonly SchemaElement[];
  readonly bloomed: Set<number>;
  readonly unreadable: Map<number, string>;
};

async function readRowGroups(cursor: ThriftCursor, type: number, known: Leaves): Promise<readonly RowGroup[]> {
  const { leaves } = known;
  const count = cursor.readStructList(type);
  if (count > ROW_GROUPS_MAX) throw tooComplex(`it has more than ${ROW_GROUPS_MAX} row groups`);
  if (count * leaves.length > CHUNKS_MAX) throw tooComplex(`it has more than ${CHUNKS_MAX} column chunks`);
  const rowGroups: RowGroup[] = [];
  let startRow = 0;
  let turnedAt = cursor.offset;
  for (let i = 0; i < count; i++) {
    const group = readRowGroup(cursor, known, startRow);
    rowGroups.push(group);
    startRow += group.rows;
    if (!Number.isSafeInteger(startRow)) throw corrupt('there are too many rows');
    if (cursor.offset - turnedAt < BYTES_PER_TURN) continue;
    turnedAt = cursor.offset;
    await setImmediate();
  }
  return rowGroups;
}

function readRowGroup(cursor: ThriftCursor, { leaves, bloomed, unreadable }: Leaves, startRow: number): RowGroup {
  const { bytes } = cursor;
  const sizes = new Float64Array(leaves.length);
  const values = new Float64Array(leaves.length);
  const statsAt = new Uint32Array(leaves.length);
  let rows = 0;
  let leaf = 0;
  let isPacked = false;
  cursor.readStruct((id, type) => {
    if (id === 1) {
      const chunks = cursor.readStructList(type);
      if (leaf + chunks > leaves.length) throw corrupt('a row group has more column chunks than there are columns');
      for (let i = 0; i < chunks; i++, leaf++) {
        const chunk = readChunk(cursor);
        isPacked ||= chunk.codec !== UNCOMPRESSED;
        sizes[leaf] = chunk.size;
        values[leaf] = chunk.values;
        statsAt[leaf] = chunk.statisticsAt;
        if (chunk.isBloomed) bloomed.add(leaf);
        const storage = unreadStorage(chunk, leaves[leaf]);
        if (storage !== undefined) unreadable.set(leaf, storage);
      }
    } else if (id === 3 && type === THRIFT.int64) rows = cursor.readInt();
    else return false;
    return true;
  });
  if (rows < 0 || leaf !== leaves.length) throw corrupt('a row group does not fit the columns');
  const stats = (which: number): ColumnStats | undefined => {
    const place = statsAt[which] ?? 0;
    if (place === 0) return undefined;
    const element = must(leaves[which], 'statistics belong to a leaf');
    return readStatistics(new ThriftCursor(bytes, place, new Steps(STATISTICS_STEPS_MAX)), element, rows);
  };
  return { startRow, rows, bytes: sizes, values, isPacked, stats };
}

type Chunk = {
  size: number;
  values: number;
  statisticsAt: number;
  codec: number;
  isBloomed: boolean;
  encodings: readonly number[];
};

/** Compressed size of a `ColumnChunk` in bytes, its number of values, the offset of its statistics (0: none), and how it is stored. */
function readChunk(cursor: ThriftCursor): Readonly<Chunk> {
  const chunk: Chunk = { size: 0, values: 0, statisticsAt: 0, codec: UNCOMPRESSED, isBloomed: false, encodings: [] };
  cursor.readStruct((id, type) => {
    if (id !== 3 || type !== THRIFT.struct) return false;
    cursor.readStruct((member, memberType) => {
      if (member === 12 && memberType === THRIFT.struct) chunk.statisticsAt = cursor.offset;
      if (member === 14) chunk.isBloomed = true;
      if (member === 2 && memberType === THRIFT.list) chunk.encodings = cursor.readIntList(memberType);
      else if (member === 4 && memberType === THRIFT.int32) chunk.codec = cursor.readInt();
      else if (member === 5 && memberType === THRIFT.int64) chunk.values = cursor.readInt();
      else if (member === 7 && memberType === THRIFT.int64) chunk.size = cursor.readInt();
      else return false;
      return true;
    });
    return true;
  });
  if (chunk.size < 0) throw corrupt('a column chunk has a negative size');
  return chunk;
}

/** Values of `Encoding` and `CompressionCodec` that DuckDB 1.5 does not read; one more of the first for all types but FLOAT and DOUBLE. */
const LAST_ENCODING = 9;
const BYTE_STREAM_SPLIT = 9;
const UNREAD_CODECS: ReadonlyMap<number, string> = new Map([
  [3, 'LZO'],
  [5, 'LZ4'],
]);
const LAST_CODEC = 7;

/** Names the encoding or the codec of a column chunk that DuckDB does not read. */
function unreadStorage({ encodings, codec }: Chunk, element: SchemaElement | undefined): string | undefined {
  const unread = UNREAD_CODECS.get(codec) ?? (codec < 0 || codec > LAST_CODEC ? String(codec) : undefined);
  if (unread !== undefined) return `the codec ${unread}`;
  const isFloat = element?.type === 'FLOAT' || element?.type === 'DOUBLE';
  if (encodings.includes(BYTE_STREAM_SPLIT) && !isFloat) return `the encoding BYTE_STREAM_SPLIT of ${element?.type}`;
  const other = encodings.find((encoding) => encoding < 0 || encoding > LAST_ENCODING);
  return other === undefined ? undefined : `the encoding ${other}`;
}

function readTree(schema: readonly SchemaElement[]): readonly FileField[] {
  let next = 0;
  let leaf = 0;
  const readNode = (depth: number): FileField => {
    const element = schema[next++];
    if (element === undefined) throw corrupt('the schema ends early');
    if (depth > SCHEMA_DEPTH_MAX) throw tooComplex('its columns are nested too deeply');
    const first = leaf;
    if (element.type !== undefined) leaf++;
    const children: FileField[] = [];
    for (let i = 0; i < element.children; i++) children.push(readNode(depth + 1));
    return nodeOf(element, children, { first, end: leaf });
  };
  const root = readNode(0);
  if (next !== schema.length) throw corrupt('the schema has columns that belong to nothing');
  return root.children;
}

function nodeOf(element: SchemaElement, children: readonly FileField[], leaves: FileField['leaves']): FileField {
  const node = { name: element.name, id: element.fieldId ?? null, element, leaves };
  if (element.type !== undefined) return { ...node, kind: 'primitive', children: [] };
  const annotation = annotationOf(element);
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
