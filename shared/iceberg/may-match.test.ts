import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { unreachable } from '#shared/must.ts';
import { compareLiterals } from './compare-literals.ts';
import { mayMatch, type ColumnStats } from './may-match.ts';
import type { CompareOp, Literal, Predicate } from './predicate.ts';

type Value = Literal | null;

/** Returns the three-valued truth of a predicate for a row: null is unknown. */
function holds(predicate: Predicate, row: readonly Value[]): boolean | null {
  switch (predicate.kind) {
    case 'true':
      return true;
    case 'false':
      return false;
    case 'and':
    case 'or': {
      const parts = predicate.children.map((child) => holds(child, row));
      const decisive = predicate.kind === 'or';
      if (parts.includes(decisive)) return decisive;
      return parts.includes(null) ? null : !decisive;
    }
    case 'isNull':
      return row[predicate.fieldId] === null;
    case 'notNull':
      return row[predicate.fieldId] !== null;
    case 'compare':
    case 'in':
    case 'startsWith':
      return holdsValue(predicate, row[predicate.fieldId] ?? null);
    default:
      return unreachable(predicate);
  }
}

function holdsValue(
  predicate: Extract<Predicate, { kind: 'compare' | 'in' | 'startsWith' }>,
  value: Value,
): boolean | null {
  if (value === null) return null;
  if (predicate.kind === 'startsWith') return String(value).startsWith(predicate.prefix);
  if (predicate.kind === 'in') return predicate.values.some((one) => compareLiterals(value, one) === 0);
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

/** Returns exact statistics; a part is left out when its bit of `known` is unset; strings are cut to two characters when bit 5 is set. */
function statsOf(values: readonly Value[], known: number): ColumnStats {
  const present = values.filter((v): v is Literal => v !== null && !Number.isNaN(v));
  const sorted = present.toSorted((a, b) => compareLiterals(a, b) ?? 0);
  const cut = (known & 32) !== 0;
  const lower = sorted[0];
  const upper = sorted.at(-1);
  return {
    lower: known & 1 ? (cut && typeof lower === 'string' ? (Array.from(lower)[0] ?? '') : lower) : undefined,
    upper: known & 2 ? (cut && typeof upper === 'string' && upper !== '' ? `${upper}\u{10ffff}` : upper) : undefined,
    nullCount: known & 4 ? values.filter((v) => v === null).length : undefined,
    valueCount: known & 8 ? values.length : undefined,
    nanCount: known & 16 ? values.filter((v) => Number.isNaN(v)).length : undefined,
  };
}

/** One kind of value per column, as in a table: 0 = long, 1 = double, 2 = string, 3 = boolean, 4 = binary. */
const literals: readonly fc.Arbitrary<Literal>[] = [
  fc.bigInt({ min: -3n, max: 3n }),
  fc.constantFrom(-Infinity, -1, -0, 0, 0.5, 1, Infinity, Number.NaN),
  fc.constantFrom('', 'a', 'ab', 'abc', 'b', '\u{e000}', '\u{ffff}', '\u{10000}', '\u{10000}a', 'ä'),
  fc.boolean(),
  fc.uint8Array({ maxLength: 2 }),
];

const ops = fc.constantFrom<CompareOp>('eq', 'ne', 'lt', 'le', 'gt', 'ge');
const leaf: fc.Arbitrary<Predicate> = fc.integer({ min: 0, max: 4 }).chain((fieldId) => {
  const literal = literals[fieldId] ?? fc.boolean();
  return fc.oneof(
    fc.record({ kind: fc.constant('compare' as const), op: ops, fieldId: fc.constant(fieldId), value: literal }),
    fc.record({
      kind: fc.constant('in' as const),
      fieldId: fc.constant(fieldId),
      values: fc.array(literal, { maxLength: 3 }),
    }),
    fc.record({ kind: fc.constantFrom('isNull' as const, 'notNull' as const), fieldId: fc.constant(fieldId) }),
    fc.record({
      kind: fc.constant('startsWith' as const),
      fieldId: fc.constant(2),
      prefix: fc.constantFrom('', 'a', 'ab', '\u{10000}', '\u{e000}'),
    }),
    fc.constantFrom<Predicate>({ kind: 'true' }, { kind: 'false' }),
  );
});
const predicates = fc.letrec<{ node: Predicate }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.record({
      kind: fc.constantFrom('and' as const, 'or' as const),
      children: fc.array(tie('node'), { maxLength: 3 }),
    }),
  ),
})).node;
const rows = fc.array(fc.tuple(...literals.map((one) => fc.option(one, { nil: null }))), { maxLength: 4 });

test('a predicate that a row satisfies never prunes it, and exact statistics of one row prune a predicate that it does not satisfy', () => {
  fc.assert(
    fc.property(predicates, rows, fc.array(fc.nat(63), { minLength: 5, maxLength: 5 }), (predicate, table, known) => {
      const stats = literals.map((_, i) =>
        statsOf(
          table.map((row) => row[i] ?? null),
          known[i] ?? 0,
        ),
      );
      if (table.some((row) => holds(predicate, row) === true)) {
        expect(mayMatch(predicate, (id) => stats[id])).toBe(true);
      }
    }),
    { numRuns: 3000 },
  );
});

test('exact statistics of one row decide a single comparison', () => {
  fc.assert(
    fc.property(
      leaf,
      rows.filter((table) => table.length === 1),
      (predicate, table) => {
        const stats = literals.map((_, i) =>
          statsOf(
            table.map((row) => row[i] ?? null),
            31,
          ),
        );
        expect(mayMatch(predicate, (id) => stats[id])).toBe(table.some((row) => holds(predicate, row) === true));
      },
    ),
    { numRuns: 2000 },
  );
});

describe('unknown statistics may match', () => {
  const above: Predicate = { kind: 'compare', op: 'gt', fieldId: 1, value: 10 };
  test.each<[string, ColumnStats | undefined, boolean]>([
    ['no statistics', undefined, true],
    ['NaN count unknown', { lower: 1, upper: 2 }, true],
    ['no NaN', { lower: 1, upper: 2, nanCount: 0 }, false],
    ['a NaN bound', { lower: Number.NaN, upper: Number.NaN, nanCount: 0 }, true],
    ['another kind of bound', { lower: 1n, upper: 2n, nanCount: 0 }, true],
    ['all null', { nullCount: 3, valueCount: 3 }, false],
  ])('x > 10 with %s', (_name, stats, expected) => {
    expect(mayMatch(above, () => stats)).toBe(expected);
  });
});
