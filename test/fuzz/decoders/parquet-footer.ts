import type { ScanColumn } from '#shared/iceberg/scan-file.ts';
import { SkeinError } from '#shared/error.ts';
import { mayMatch } from '#shared/iceberg/may-match.ts';
import type { Literal } from '#shared/iceberg/predicate.ts';
import type { Json } from '#shared/json.ts';
import {
  binary,
  columnChunk,
  fileMetadata,
  groupElement,
  leafElement,
  list,
  rowGroup,
  struct,
  varint,
  zigzag,
  type ThriftField,
  type ThriftType,
} from '#test/support/hostile-parquet.ts';
import { decodeFooter } from '#worker/scan/footer.ts';
import { withFieldIds } from '#worker/scan/name-mapping.ts';
import { misleadingColumns } from '#worker/scan/misleading-columns.ts';
import { columnSource } from '#worker/scan/plan-file.ts';
import type { Decoder } from '../decoder.ts';
import type { Random } from '../random.ts';

const LOGICAL_TYPES = 18;
const CELLS_MAX = 1_000;
const NAME_MAPPING: Json = [
  { 'field-id': 1, names: ['a', 'b'], fields: [{ 'field-id': 2, names: ['element', 'a'] }] },
  {
    'field-id': 3,
    names: ['c'],
    fields: [
      { 'field-id': 4, names: ['key'] },
      { 'field-id': 5, names: ['value'] },
    ],
  },
];
const COLUMN_TYPES: readonly Json[] = [
  'int',
  'string',
  'uuid',
  'timestamptz',
  'decimal(9, 2)',
  { type: 'list', 'element-id': 2, element: 'string', 'element-required': false },
  { type: 'map', 'key-id': 4, key: 'string', 'value-id': 5, value: 'long', 'value-required': false },
  { type: 'struct', fields: [{ id: 2, name: 'x', required: false, type: 'timestamp' }] },
];
/** One literal of each kind, because a file's column may have any type. */
const LITERALS: readonly Literal[] = [5n, 1.5, Number.NaN, 'text', true, new Uint8Array(4)];
const columnOf = (fieldId: number, type: Json): ScanColumn => ({
  fieldId,
  name: 'c',
  type,
  required: false,
  initialDefault: null,
});

const statistics: readonly ThriftField[] = [
  [3, 'int64', zigzag(2)],
  [5, 'binary', binary(Buffer.alloc(4, 9))],
  [6, 'binary', binary(Buffer.alloc(4, 1))],
];
const schema = list('struct', [
  groupElement('root', 2),
  leafElement('a', 1),
  groupElement('c', 1),
  groupElement('list', 1),
  leafElement('element', 4, 6),
]);
const chunks = [columnChunk({ rows: 5, bytes: 90, statistics }), columnChunk({ rows: 5, type: 6 })];
const group = rowGroup(5, chunks);

export const PARQUET_FOOTER: Decoder = {
  name: 'parquet-footer',
  samples: [fileMetadata(schema, 10, list('struct', [group, group]))],
  grammar: (random) => {
    const leaves = random.below(5);
    const elements = Array.from({ length: leaves }, () => drawElement(random));
    const root = groupElement('root', random.chance(0.9) ? leaves : random.number());
    const groups = Array.from({ length: random.below(4) }, () => drawGroup(random, leaves));
    return struct(
      [1, 'int32', zigzag(1)],
      [2, 'list', list('struct', [root, ...elements], lie(random, leaves + 1))],
      ...drawFields(random),
      [4, 'list', list('struct', groups, lie(random, groups.length))],
      ...drawFields(random),
    );
  },
  decode: async (input) => {
    const footer = await decodeFooter(input);
    const leaves = footer.rowGroups[0]?.bytes.length ?? 0;
    let cells = 0;
    for (const { stats } of footer.rowGroups) {
      for (let leaf = 0; leaf < leaves && cells < CELLS_MAX; leaf++, cells++) {
        for (const value of LITERALS) mayMatch({ kind: 'compare', op: 'lt', fieldId: 1, value }, () => stats(leaf));
      }
    }
    const fields = withFieldIds(footer.fields, NAME_MAPPING, 'f');
    const source = columnSource(fields, { constants: {} }, misleadingColumns(footer));
    for (const field of fields.slice(0, CELLS_MAX)) {
      for (const type of COLUMN_TYPES) if (field.id !== null) refusedOr(() => source(columnOf(field.id ?? 0, type)));
    }
  },
  errors: ['INVALID_TABLE_DATA', 'TABLE_DATA_TOO_COMPLEX', 'NOT_SUPPORTED'],
};

/** Ignores the refusal of a file whose column does not have the table's type, and goes on with the next one. */
function refusedOr(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
  }
}

const lie = (random: Random, size: number): number => (random.chance(0.95) ? size : Math.abs(random.number()));

function drawElement(random: Random): Buffer {
  const name = random.pick(['a', 'b', 'c', 'A', 'key', 'value', 'element', 'filename']);
  if (random.chance(0.2)) return groupElement(name, random.below(3));
  const logical = struct([1 + random.below(LOGICAL_TYPES), 'struct', struct(...drawFields(random))]);
  return struct(
    [1, 'int32', zigzag(random.chance(0.97) ? random.below(8) : random.number())],
    [4, 'binary', binary(name)],
    ...(random.chance(0.3) ? [[6, 'int32', zigzag(random.below(23))] as const] : []),
    [7, 'int32', zigzag(random.number())],
    [9, 'int32', zigzag(random.chance(0.9) ? random.below(6) : random.number())],
    ...(random.chance(0.5) ? [[10, 'struct', logical] as const] : []),
  );
}

function drawGroup(random: Random, leaves: number): Buffer {
  const drawn = Array.from({ length: leaves }, () => {
    const bound = (): Buffer => binary(random.bytes(random.pick([0, 1, 2, 4, 8, 12, 16, 17, 40])));
    const fields: readonly ThriftField[] = [
      [1, 'binary', bound()],
      [2, 'binary', bound()],
      [3, 'int64', zigzag(random.number())],
      [5, 'binary', bound()],
      [6, 'binary', bound()],
    ];
    const kept = fields.filter(() => random.chance(0.7));
    return columnChunk({ rows: 5, bytes: random.number(), type: random.below(8), statistics: kept });
  });
  return rowGroup(random.number(), drawn);
}

/** Draws unknown fields, and known ones at wrong places. */
function drawFields(random: Random, depth = 0): readonly ThriftField[] {
  let id = 0;
  return Array.from({ length: random.below(3) }, () => {
    const type = random.pick<ThriftType>(['flag', 'byte', 'int32', 'int64', 'binary', 'list', 'map', 'struct']);
    id += 1 + random.below(20);
    return [id, type, drawValue(random, type, depth)];
  });
}

function drawValue(random: Random, type: ThriftType, depth: number): Buffer {
  if (type === 'flag') return Buffer.alloc(0);
  if (type === 'byte') return random.bytes(1);
  if (type === 'int32' || type === 'int64') return zigzag(random.number());
  if (type === 'binary') return random.chance(0.9) ? binary(random.bytes(random.below(9))) : varint(random.number());
  if (type === 'struct') return struct(...(depth < 20 ? drawFields(random, depth + 1) : []));
  const inner = random.pick<ThriftType>([
    'byte',
    'int64',
    'binary',
    ...(depth < 20 ? (['list', 'struct'] as const) : []),
  ]);
  const items = Array.from({ length: random.below(3) }, () => drawValue(random, inner, depth + 1));
  if (type === 'list') return list(inner, items, lie(random, items.length));
  return random.chance(0.5) ? Buffer.of(0) : Buffer.concat([varint(random.below(5)), random.bytes(6)]);
}
