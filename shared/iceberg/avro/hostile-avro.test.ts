import { describe, expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import { avroContainer, avroLong, bomb, exponentialSchema, recordOf } from '#test/support/hostile-avro.ts';
import { limitsHere, Steps, type DecodeLimits } from '../decode-limits.ts';
import { readAvroFile } from './read-container.ts';
import { unsnap } from './unsnap.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

/** Files that claim more than they contain: each is refused with an error that says why, before it has cost anything. */

const WANTED = { status: { id: 0 } };
/** More CPU time than any of these files may take, even on a busy machine. */
const CPU_MS_MAX = 300;

const read = (file: Uint8Array, limits: DecodeLimits = limitsHere()): number => {
  let rows = 0;
  for (const batch of readAvroFile(file, WANTED, limits)) rows += batch.rows.length;
  return rows;
};

function refused(file: Uint8Array, code: string, limits?: DecodeLimits): string {
  const before = process.threadCpuUsage();
  let message = '';
  expect(() => {
    try {
      read(file, limits);
    } catch (error) {
      message = (error as Error).message;
      throw error;
    }
  }).toThrow(expect.objectContaining({ code }) as Error);
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(CPU_MS_MAX * machineSlowness());
  return message;
}

const one = (schema: string, bytes: readonly number[], count = 2): Uint8Array =>
  avroContainer(schema, [{ count, bytes: Uint8Array.from(bytes) }]);
const nested = (depth: number): Json => (depth === 0 ? 'int' : { type: 'array', items: nested(depth - 1) });
const nothing: Json = { type: 'record', name: 'nothing', fields: [] };
const doubling = (depth: number): Json => ({
  type: 'record',
  name: `d${depth}`,
  fields:
    depth === 0
      ? [{ name: 'x', type: 'int' }]
      : [
          { name: 'a', type: doubling(depth - 1) },
          { name: 'b', type: `d${depth - 1}` },
        ],
});
/** A chain of named types: none is nested in another, but reading the last one recurses through all. */
const chain = (length: number): Json => ({
  type: 'record',
  name: 'chain',
  fields: Array.from({ length }, (_, i) => ({
    name: `f${i}`,
    type: { type: 'record', name: `c${i}`, fields: [{ name: 'x', type: i === 0 ? 'int' : `c${i - 1}` }] },
  })),
});

describe('schemas', () => {
  test('a manifest of 900 bytes whose schema grows sevenfold with every level', () => {
    const file = one(exponentialSchema(8, 6), [0]);
    expect(file.length).toBeLessThan(1_000);
    expect(refused(file, 'TABLE_DATA_TOO_COMPLEX')).toContain('steps');
  });

  test.each<[string, Json, string]>([
    ['a record that doubles', doubling(14), 'TABLE_DATA_TOO_COMPLEX'],
    ['types in a long chain', chain(40), 'TABLE_DATA_TOO_COMPLEX'],
    ['arrays of arrays', nested(1_000), 'TABLE_DATA_TOO_COMPLEX'],
    [
      'a record of very many fields',
      { ...nothing, fields: Array.from({ length: 6_000 }, (_, i) => ({ name: `f${i}`, type: 'int' })) },
      'TABLE_DATA_TOO_COMPLEX',
    ],
    ['a union of very many branches', Array.from({ length: 6_000 }, () => 'int'), 'TABLE_DATA_TOO_COMPLEX'],
    ['a type inside of itself', ['null', 'r'], 'INVALID_TABLE_DATA'],
    ['an array of records without fields', { type: 'array', items: nothing }, 'INVALID_TABLE_DATA'],
    ['an array of null', { type: 'array', items: 'null' }, 'INVALID_TABLE_DATA'],
    ['a name of every object', 'constructor', 'INVALID_TABLE_DATA'],
    ['a field that is null', { ...nothing, fields: [null] }, 'INVALID_TABLE_DATA'],
    ['a fixed type of no size', { type: 'fixed', name: 'f', size: 1.5 }, 'INVALID_TABLE_DATA'],
  ])('%s', (_what, type, code) => {
    refused(one(recordOf(type), [0]), code);
  });

  test('a schema of more than a megabyte is not parsed', () => {
    expect(refused(one(recordOf('int') + ' '.repeat(2 ** 20), [0]), 'TABLE_DATA_TOO_COMPLEX')).toContain('bytes');
  });

  test('a named type may be used as often as an honest schema does', () => {
    const pair = { type: 'record', name: 'p', fields: [{ name: 'k', type: 'int' }] };
    const fields = Array.from({ length: 400 }, (_, i) => ({ name: `f${i}`, type: i === 0 ? pair : ['null', 'p'] }));
    expect(
      read(
        one(
          recordOf({ ...nothing, fields }),
          Array.from({ length: 400 }, () => 0),
          1,
        ),
      ),
    ).toBe(1);
  });
});

describe('blocks', () => {
  test.each(['deflate', 'zstandard'] as const)('a %s bomb is given up at the limit', (codec) => {
    const bytes = bomb(codec, 64 * 2 ** 20);
    expect(bytes.length).toBeLessThan(2 ** 17);
    const file = avroContainer(recordOf('int'), [{ count: 5, bytes }], codec);
    expect(refused(file, 'TABLE_DATA_TOO_COMPLEX')).toContain('unpacks to more than');
  });

  test('blocks that are small, but too much together', () => {
    const bytes = bomb('deflate', 2 ** 20);
    const file = avroContainer(
      recordOf('int'),
      Array.from({ length: 6 }, () => ({ count: 1, bytes })),
      'deflate',
    );
    expect(refused(file, 'TABLE_DATA_TOO_COMPLEX')).toContain('unpacks to more than');
  });

  test('very many blocks of nothing', () => {
    const bytes = bomb('deflate', 1);
    const file = avroContainer(
      recordOf('int'),
      Array.from({ length: 5_000 }, () => ({ count: 1, bytes })),
      'deflate',
    );
    expect(refused(file, 'TABLE_DATA_TOO_COMPLEX')).toContain('steps');
  });

  test.each<[string, readonly number[]]>([
    ['a literal of a length below zero', [64, 0xfc, 0, 0, 0, 0x80, 1, 2, 3, 4]],
    ['a literal longer than the block', [64, 0xf8, 255, 255, 255, 1]],
    ['a copy of nothing', [64, 0x05, 0]],
    ['a copy from before the beginning', [64, 0x00, 1, 0x05, 9]],
    ['a length without end', [255, 255, 255, 255, 255, 255]],
    ['more than it says', [1, 0x08, 1, 2, 3]],
    ['less than it says', [9, 0x00, 1]],
    ['nothing', []],
  ])('snappy: %s', (_what, packed) => {
    const file = avroContainer(
      recordOf('int'),
      [{ count: 1, bytes: Uint8Array.from([...packed, 0, 0, 0, 0]) }],
      'snappy',
    );
    refused(file, 'INVALID_TABLE_DATA');
  });

  test('snappy: a length beyond the limit takes no memory', () => {
    expect(() =>
      unsnap(Uint8Array.from([0xff, 0x7f, ...Array.from({ length: 1_000 }, () => 0)]), (length) => {
        throw new Error(`asked for ${length}`);
      }),
    ).toThrow('asked for 16383');
  });

  test('snappy: copies that overlap what they write', () => {
    // "ab", then four bytes from two back, then a copy of one byte five times.
    expect(unsnap(Uint8Array.from([11, 0x04, 97, 98, 0x01, 2, 0x05, 1]), () => undefined).toString()).toBe(
      'abababbbbbb',
    );
  });
});

describe('values', () => {
  test.each<[string, string, readonly number[], number?]>([
    ['an array longer than the file', recordOf({ type: 'array', items: 'int' }), [254, 255, 255, 15, 0]],
    ['a string longer than the file', recordOf('string'), [254, 255, 255, 15]],
    ['a negative length', recordOf('bytes'), [1]],
    ['a union without such a branch', recordOf(['null', 'int']), [8]],
    ['a union without branches', recordOf([]), [0]],
    ['more records than bytes', recordOf('int'), [2], 126],
    ['a negative count of records', recordOf('int'), [2], -1],
    ['an endless integer', recordOf('long'), Array.from({ length: 12 }, () => 255)],
  ])('%s', (_what, schema, bytes, count) => {
    refused(one(schema, bytes, count), 'INVALID_TABLE_DATA');
  });

  test('rows beyond the limit', () => {
    const bytes = new Uint8Array(5_000);
    expect(refused(avroContainer(recordOf('int'), [{ count: 5_000, bytes }]), 'TABLE_DATA_TOO_COMPLEX')).toContain(
      'rows',
    );
  });

  test('a byte that costs a thousand steps, a million times', () => {
    const fields = Array.from({ length: 1_000 }, (_, i) => ({ name: `f${i}`, type: i === 0 ? nothing : 'nothing' }));
    const costly: Json = { type: 'record', name: 'costly', fields: [...fields, { name: 'x', type: 'int' }] };
    const items = Buffer.concat([avroLong(500_000), Buffer.alloc(500_000), avroLong(0)]);
    const file = avroContainer(recordOf({ type: 'array', items: costly }), [{ count: 1, bytes: items }]);
    const limits = { ...limitsHere(), steps: new Steps(2_000_000) };
    expect(refused(file, 'TABLE_DATA_TOO_COMPLEX', limits)).toContain('steps');
  });
});
