import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareLiterals } from './compare-literals.ts';
import { mayMatch } from './may-match.ts';
import type { CompareOp, Literal, Predicate } from './predicate.ts';
import { projectPredicate } from './project-predicate.ts';
import { decodeBound, encodeBound, uuidBytes } from './single-value.ts';
import { applyTransform, bucketHash, parseTransform, printTransform, resultType } from './transform.ts';
import type { IcebergType } from './type.ts';
import { decimalBytes } from './manifest-schema.ts';

const micros = (text: string): bigint => BigInt(Date.parse(text)) * 1000n;
const days = (text: string): bigint => BigInt(Date.parse(text)) / 86_400_000n;

describe('hashes of the specification, appendix B', () => {
  test.each<[string, IcebergType, Literal, number]>([
    ['int', { kind: 'int' }, 34n, 2017239379],
    ['long', { kind: 'long' }, 34n, 2017239379],
    ['decimal', { kind: 'decimal', precision: 9, scale: 2 }, 1420n, -500754589],
    ['date', { kind: 'date' }, days('2017-11-16'), -653330422],
    ['time', { kind: 'time' }, 81_068_000_000n, -662762989],
    ['timestamp', { kind: 'timestamp' }, micros('2017-11-16T22:31:08Z'), -2047944441],
    ['timestamp, microseconds', { kind: 'timestamp' }, micros('2017-11-16T22:31:08Z') + 1n, -1207196810],
    ['timestamptz', { kind: 'timestamptz' }, micros('2017-11-16T14:31:08-08:00'), -2047944441],
    ['timestamp_ns', { kind: 'timestamp_ns' }, micros('2017-11-16T22:31:08Z') * 1000n + 1001n, -1207196810],
    ['string', { kind: 'string' }, 'iceberg', 1210000089],
    ['uuid', { kind: 'uuid' }, uuidBytes('f79c3e09-677c-4bbd-a479-3f349cb785e7'), 1488055340],
    ['fixed', { kind: 'fixed', length: 4 }, Uint8Array.of(0, 1, 2, 3), -188683207],
    ['binary', { kind: 'binary' }, Uint8Array.of(0, 1, 2, 3), -188683207],
  ])('%s', (_name, type, value, hash) => {
    expect(bucketHash(type, value)).toBe(hash);
  });
});

describe('values', () => {
  test.each<[string, IcebergType, Literal, Literal | null | undefined]>([
    ['truncate[10]', { kind: 'int' }, -1n, -10n],
    ['truncate[10]', { kind: 'int' }, 10n, 10n],
    ['truncate[50]', { kind: 'decimal', precision: 9, scale: 2 }, 1065n, 1050n],
    ['truncate[3]', { kind: 'string' }, 'iceberg', 'ice'],
    ['truncate[2]', { kind: 'string' }, '\u{1f600}\u{1f601}\u{1f602}', '\u{1f600}\u{1f601}'],
    ['truncate[2]', { kind: 'binary' }, Uint8Array.of(1, 2, 3), Uint8Array.of(1, 2)],
    ['year', { kind: 'date' }, days('1969-12-31'), -1n],
    ['month', { kind: 'date' }, days('1969-11-30'), -2n],
    ['month', { kind: 'timestamp' }, micros('2017-12-01T10:00:00Z'), 575n],
    ['day', { kind: 'timestamptz' }, micros('1969-12-31T23:59:59Z'), -1n],
    ['hour', { kind: 'timestamp_ns' }, micros('2017-11-16T22:31:08Z') * 1000n, 419686n],
    ['hour', { kind: 'date' }, 1n, undefined],
    ['void', { kind: 'int' }, 1n, null],
    ['bucket[16]', { kind: 'int' }, 34n, 3n],
    ['zorder', { kind: 'int' }, 1n, undefined],
  ])('%s of %o', (text, type, value, expected) => {
    const transform = parseTransform(text);
    expect(printTransform(transform)).toBe(text);
    expect(applyTransform(transform, type, value)).toStrictEqual(expected);
  });
});

/** Integers near the ends of a range, and near zero. */
const atEnds = (least: bigint, greatest: bigint): fc.Arbitrary<Literal> =>
  fc.oneof(
    fc.bigInt({ min: least, max: least + 30n }),
    fc.bigInt({ min: -30n, max: 30n }),
    fc.bigInt({ min: greatest - 30n, max: greatest }),
  );

/** A partition value as a manifest holds it. */
function stored(type: IcebergType, value: Literal): Literal {
  if (type.kind === 'decimal') return BigInt.asIntN(8 * decimalBytes(type.precision), value as bigint);
  return decodeBound(type, encodeBound(type, value) ?? new Uint8Array()) ?? value;
}

const cases: readonly (readonly [IcebergType, readonly string[], fc.Arbitrary<Literal>])[] = [
  [{ kind: 'long' }, ['identity', 'bucket[4]', 'truncate[7]', 'void'], fc.bigInt({ min: -30n, max: 30n })],
  [{ kind: 'int' }, ['truncate[10]', 'truncate[2147483647]', 'bucket[4]'], atEnds(-(2n ** 31n), 2n ** 31n - 1n)],
  [{ kind: 'long' }, ['truncate[10]', 'truncate[1000]', 'bucket[4]'], atEnds(-(2n ** 63n), 2n ** 63n - 1n)],
  [{ kind: 'decimal', precision: 2, scale: 0 }, ['truncate[100]', 'truncate[1000]'], atEnds(-99n, 99n)],
  [{ kind: 'timestamp' }, ['hour', 'day', 'month'], atEnds(-(2n ** 63n) + 2n, 2n ** 63n - 3n)],
  [{ kind: 'timestamptz' }, ['hour'], fc.bigInt({ min: -(2n ** 63n) + 2n, max: 2n ** 63n - 3n })],
  [{ kind: 'date' }, ['identity', 'year', 'month', 'day', 'bucket[3]'], fc.bigInt({ min: -800n, max: 800n })],
  [{ kind: 'timestamp' }, ['year', 'month', 'day', 'hour'], fc.bigInt({ min: -9_000_000_000n, max: 9_000_000_000n })],
  [
    { kind: 'string' },
    ['identity', 'bucket[4]', 'truncate[1]', 'truncate[2]'],
    fc.string({ unit: fc.constantFrom('a', 'b', '\u{10000}', '\u{e000}'), maxLength: 4 }),
  ],
];

function holds(predicate: Predicate, value: Literal): boolean {
  if (predicate.kind === 'in') return predicate.values.some((one) => compareLiterals(value, one) === 0);
  if (predicate.kind === 'startsWith') return String(value).startsWith(predicate.prefix);
  if (predicate.kind === 'notNull') return true;
  if (predicate.kind !== 'compare') return false;
  const order = compareLiterals(value, predicate.value) ?? Number.NaN;
  const table: Record<CompareOp, boolean> = {
    eq: order === 0,
    ne: order !== 0,
    lt: order < 0,
    le: order <= 0,
    gt: order > 0,
    ge: order >= 0,
  };
  return table[predicate.op];
}

test.each(cases)(
  'a projection keeps the partition of every row that satisfies the predicate: %o',
  (type, texts, values) => {
    const leaves: fc.Arbitrary<Predicate> = fc.oneof(
      fc.record({
        kind: fc.constant('compare' as const),
        op: fc.constantFrom<CompareOp>('eq', 'ne', 'lt', 'le', 'gt', 'ge'),
        fieldId: fc.constant(1),
        value: values,
      }),
      fc.record({
        kind: fc.constant('in' as const),
        fieldId: fc.constant(1),
        values: fc.array(values, { maxLength: 3 }),
      }),
      ...(type.kind === 'string'
        ? [values.map((prefix): Predicate => ({ kind: 'startsWith', fieldId: 1, prefix: String(prefix) }))]
        : []),
      fc.constant<Predicate>({ kind: 'notNull', fieldId: 1 }),
    );
    fc.assert(
      fc.property(leaves, values, fc.constantFrom(...texts), (predicate, value, text) => {
        const transform = parseTransform(text);
        const spec = { specId: 0, fields: [{ fieldId: 1000, name: 'p', sourceId: 1, transform }] };
        const projected = projectPredicate(predicate, spec, () => type);
        const result = resultType(transform, type);
        const computed = applyTransform(transform, type, value);
        const partition = computed == null || result === undefined ? computed : stored(result, computed);
        const stats =
          partition === null || partition === undefined
            ? { nullCount: 1, valueCount: 1 }
            : { lower: partition, upper: partition, nullCount: 0, valueCount: 1, nanCount: 0 };
        if (holds(predicate, value)) expect(mayMatch(projected, () => stats)).toBe(true);
        else if (text === 'identity') expect(mayMatch(projected, () => stats)).toBe(false);
      }),
      { numRuns: 1500 },
    );
  },
);

test('a range over a month prunes the months outside', () => {
  const spec = {
    specId: 0,
    fields: [{ fieldId: 1000, name: 'm', sourceId: 1, transform: parseTransform('month') }],
  };
  const before: Predicate = { kind: 'compare', op: 'lt', fieldId: 1, value: days('2024-03-01') };
  // The partition of NULL may hold infinite dates.
  expect(projectPredicate(before, spec, () => ({ kind: 'date' }))).toStrictEqual({
    kind: 'or',
    children: [
      { kind: 'compare', op: 'le', fieldId: 1000, value: 649n },
      { kind: 'isNull', fieldId: 1000 },
    ],
  });
  expect(resultType(parseTransform('month'), { kind: 'date' })).toStrictEqual({ kind: 'int' });
});

test('infinite dates and times lie in the partition of NULL', () => {
  const isKept = (predicate: Predicate, type: IcebergType, text = 'month'): boolean => {
    const field = { fieldId: 1000, name: 'm', sourceId: 1, transform: parseTransform(text) };
    const projected = projectPredicate(predicate, { specId: 0, fields: [field] }, () => type);
    return mayMatch(projected, () => ({ nullCount: 1, valueCount: 1 }));
  };
  const after: Predicate = { kind: 'compare', op: 'gt', fieldId: 1, value: 0n };
  expect([isKept(after, { kind: 'date' }), isKept(after, { kind: 'timestamptz' })]).toEqual([true, true]);
  expect(isKept({ kind: 'notNull', fieldId: 1 }, { kind: 'timestamp' })).toBe(true);
  expect(isKept(after, { kind: 'int' }, 'truncate[10]')).toBe(false);
});

test('a column that was promoted after its partition value was written', () => {
  const truncated: Predicate = { kind: 'compare', op: 'eq', fieldId: 1, value: -(2n ** 31n) };
  const spec = {
    specId: 0,
    fields: [{ fieldId: 1000, name: 't', sourceId: 1, transform: parseTransform('truncate[10]') }],
  };
  const wrapped = BigInt.asIntN(32, -2_147_483_650n);
  const stats = { lower: wrapped, upper: wrapped, nullCount: 0, valueCount: 1 };
  expect(
    mayMatch(
      projectPredicate(truncated, spec, () => ({ kind: 'long' })),
      () => stats,
    ),
  ).toBe(true);
});
