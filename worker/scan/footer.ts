import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { Steps, tooComplex } from '#shared/iceberg/decode-limits.ts';
import type { ColumnStats } from '#shared/iceberg/may-match.ts';
import { must } from '#shared/must.ts';
import { readChunk, UNCOMPRESSED, unreadStorage, type FilterPlace } from './column-chunk.ts';
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
  /** Bloom filters of the column chunks of a leaf, of leaves that have some. */
  readonly bloomed: ReadonlyMap<number, readonly FilterPlace[]>;
  /** Leaves that are stored in a way which DuckDB does not read, and that way in words. */
  readonly unreadable: ReadonlyMap<number, string>;
  readonly sizeBytes: number;
  /** Bytes of the metadata at the end of the file. */
  readonly metadataBytes: number;
  /** False when column chunks may lie elsewhere than where `RowGroup.starts` says. */
  readonly isPlaced: boolean;
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
  /** First byte of each leaf's column chunk. */
  readonly starts: Float64Array;
  /** Compressed bytes per leaf. */
  readonly bytes: Float64Array;
  /** Values per leaf: those of a list count one by one, and a NULL counts as a value. */
  readonly values: Float64Array;
  /** A column chunk is packed by a codec. */
  readonly isPacked: boolean;
  /** Statistics of a leaf's column chunk, decoded on demand; undefined when the file has none. */
  readonly stats: (leaf: number) => ColumnStats | undefined;
};

/** Bytes behind the metadata: its length and the magic number. */
export const TRAILER_BYTES = 8;
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
/** Approximate memory of each part of a decoded footer. */
const ELEMENT_BYTES = 400;
const GROUP_BYTES = 500;
const CHUNK_BYTES = 28;
/** Begins the name of the program that wrote a file, when that is DuckDB. */
const DUCKDB = 'DuckDB';

/** A file as a table refers to it. */
type FileReference = { readonly path: string; readonly sizeBytes: number };

/**
 * Reads the footer of a file. @throws STORAGE_ERROR when it cannot be read, INVALID_TABLE_DATA when it is no Parquet file,
 * TABLE_DATA_TOO_COMPLEX when it is beyond a limit
 */
export type ReadFooter = (file: FileReference) => Promise<Footer>;

/**
 * Decodes a footer. It expects the schema before the row groups, as every writer puts them. @param bytes `FileMetaData`, kept by the footer
 * @throws INVALID_TABLE_DATA, TABLE_DATA_TOO_COMPLEX
 */
export async function decodeFooter(bytes: Buffer, sizeBytes = bytes.length + TRAILER_BYTES): Promise<Footer> {
  const steps = new Steps(STEPS_MAX);
  const cursor = new ThriftCursor(bytes, 0, steps);
  let schema: Schema | undefined;
  let rowGroups: readonly RowGroup[] = [];
  let isDuckDb = false;
  const known = { bloomed: new Map<number, FilterPlace[]>(), unreadable: new Map<number, string>(), isPlaced: true };
  for (let field = cursor.readField(0); field !== undefined; field = cursor.readField(field.id)) {
    if (field.id === 2 && schema === undefined) schema = readSchema(cursor, field.type);
    else if (field.id === 4 && schema !== undefined && rowGroups.length === 0) {
      rowGroups = await readRowGroups(cursor, field.type, schema.leaves, known);
    } else if (field.id === 6 && field.type === THRIFT.binary) {
      isDuckDb = cursor.readBinary().toString('latin1', 0, DUCKDB.length) === DUCKDB;
    } else cursor.skip(field.type);
  }
  if (schema === undefined) throw corrupt('there is no schema');
  const { fields, elements, leaves, signature } = schema;
  const made = elements * ELEMENT_BYTES + rowGroups.length * (GROUP_BYTES + leaves.length * CHUNK_BYTES);
  const place = { sizeBytes, metadataBytes: bytes.length };
  return { fields, rowGroups, signature, isDuckDb, ...known, ...place, bytes: bytes.length + made };
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

/** Facts of the leaves that reading the row groups finds. */
type Known = {
  readonly bloomed: Map<number, FilterPlace[]>;
  readonly unreadable: Map<number, string>;
  isPlaced: boolean;
};

async function readRowGroups(
  cursor: ThriftCursor,
  type: number,
  leaves: Schema['leaves'],
  known: Known,
): Promise<readonly RowGroup[]> {
  const count = cursor.readStructList(type);
  if (count > ROW_GROUPS_MAX) throw tooComplex(`it has more than ${ROW_GROUPS_MAX} row groups`);
  if (count * leaves.length > CHUNKS_MAX) throw tooComplex(`it has more than ${CHUNKS_MAX} column chunks`);
  const rowGroups: RowGroup[] = [];
  let startRow = 0;
  let turnedAt = cursor.offset;
  for (let i = 0; i < count; i++) {
    const group = readRowGroup(cursor, startRow, leaves, known);
    rowGroups.push(group);
    startRow += group.rows;
    if (!Number.isSafeInteger(startRow)) throw corrupt('there are too many rows');
    if (cursor.offset - turnedAt < BYTES_PER_TURN) continue;
    turnedAt = cursor.offset;
    await setImmediate();
  }
  return rowGroups;
}

function readRowGroup(cursor: ThriftCursor, startRow: number, leaves: Schema['leaves'], known: Known): RowGroup {
  const { bytes } = cursor;
  const starts = new Float64Array(leaves.length);
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
        starts[leaf] = chunk.start;
        known.isPlaced &&= chunk.isPlaced;
        const { filter } = chunk;
        if (filter !== null) known.bloomed.set(leaf, [...(known.bloomed.get(leaf) ?? []), filter]);
        const storage = unreadStorage(chunk, leaves[leaf]);
        if (storage !== undefined) known.unreadable.set(leaf, storage);
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
  return { startRow, rows, starts, bytes: sizes, values, isPacked, stats };
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
