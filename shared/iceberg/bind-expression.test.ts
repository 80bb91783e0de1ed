import { describe, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import type { Json } from '#shared/json.ts';
import { bindExpression, ColumnNames } from './bind-expression.ts';
import { parseExpression } from './expression.ts';
import type { Predicate } from './predicate.ts';
import { parseFields } from './type.ts';

const FIELDS = parseFields(
  [
    'boolean',
    'int',
    'long',
    'float',
    'double',
    'decimal(9, 2)',
    'date',
    'time',
    'timestamp',
    'timestamptz',
    'timestamp_ns',
    'string',
    'uuid',
    'fixed[2]',
    'binary',
    { type: 'struct', fields: [{ id: 30, name: 'X', required: false, type: 'long' }] },
    { type: 'list', 'element-id': 40, element: 'long', 'element-required': false },
  ].map((type, i) => ({
    id: i + 1,
    name: typeof type === 'string' ? type.replace(/\W.*$/, '') : type.type,
    required: false,
    type,
  })),
);
const bind = (json: Json, caseSensitive = true): Predicate =>
  bindExpression(parseExpression(json), new ColumnNames(FIELDS, caseSensitive));
const compare = (term: Json, value: Json, type = 'lt'): Predicate => bind({ type, term, value });
const refused = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof SkeinError && error.code === 'INVALID_REQUEST') return error.message;
    throw error;
  }
  throw new Error('nothing was refused');
};
const TRUE = { kind: 'true' };
const FALSE = { kind: 'false' };
const less = (fieldId: number, value: unknown): unknown => ({ kind: 'compare', op: 'lt', fieldId, value });

describe('literals', () => {
  test.each<[string, Json, unknown]>([
    ['int', 7, less(2, 7n)],
    ['long', 9_007_199_254_740_993n, less(3, 9_007_199_254_740_993n)],
    ['long', 2n ** 64n, TRUE],
    ['long', 1.5, TRUE],
    ['double', 1.5, less(5, 1.5)],
    ['double', 'NaN', less(5, Number.NaN)],
    ['decimal', '-1.5', less(6, -150n)],
    ['decimal', 2, less(6, 200n)],
    ['decimal', '1.005', TRUE],
    ['date', '2024-02-29', less(7, 19_782n)],
    ['date', '1969-12-31', less(7, -1n)],
    ['date', 19_782, less(7, 19_782n)],
    ['time', '01:02:03.5', less(8, 3_723_500_000n)],
    ['timestamp', '1970-01-01T00:00:01.000001', less(9, 1_000_001n)],
    ['timestamp', '1970-01-02', less(9, 86_400_000_000n)],
    ['timestamp', 1_000_001, less(9, 1_000_001n)],
    ['timestamp', '1970-01-01T00:00:01.0000001', TRUE],
    ['timestamptz', '1970-01-01T01:00:00+01:00', less(10, 0n)],
    ['timestamptz', '1970-01-01T00:00:00', less(10, 0n)],
    ['timestamp_ns', '1970-01-01T00:00:00.000000001', less(11, 1n)],
    ['string', 'a', less(12, 'a')],
    ['binary', '00fF', less(15, Uint8Array.of(0, 255))],
    [
      'uuid',
      'f79c3e09-677c-4bbd-a479-3f349cb785e7',
      less(13, Uint8Array.from(Buffer.from('f79c3e09677c4bbda4793f349cb785e7', 'hex'))),
    ],
  ])('%s < %s', (column, value, predicate) => {
    expect(compare(column, value)).toEqual(predicate);
    expect(compare(column, { type: 'literal', value })).toEqual(predicate);
    const reference = { type: 'reference', name: column };
    expect(bind({ type: 'lt', left: reference, right: { type: 'literal', value } })).toEqual(predicate);
    expect(bind({ type: 'gt', left: { type: 'literal', value }, right: reference })).toEqual(predicate);
  });

  test.each<[string, Json]>([
    ['int', '7'],
    ['string', 7],
    ['boolean', 'true'],
    ['double', 'x'],
    ['decimal', 'x'],
    ['date', '2024-02-30'],
    ['date', '2024-1-1'],
    ['time', '25:00:00'],
    ['timestamp', '2024-01-01T00:00:00+01:00'],
    ['uuid', 'x'],
    ['binary', '0'],
  ])('%s takes no %j', (column, value) => {
    expect(refused(() => compare(column, value))).toContain('is no value of type');
  });

  test('of float columns hold whichever way an engine rounds', () => {
    const up = Math.fround(0.1);
    const down = Math.fround(1.3);
    expect(compare('float', 0.1, 'eq')).toEqual({ kind: 'in', fieldId: 4, values: [0.1, up] });
    expect(compare('float', 1.3, 'lt')).toEqual({ kind: 'compare', op: 'le', fieldId: 4, value: 1.3 });
    expect(compare('float', 1.3, 'gt')).toEqual({ kind: 'compare', op: 'ge', fieldId: 4, value: down });
    expect(compare('float', 0.1, 'not-eq')).toEqual(TRUE);
    expect(compare('float', 0.5, 'eq')).toEqual({ kind: 'compare', op: 'eq', fieldId: 4, value: 0.5 });
  });
});

describe('operators', () => {
  const isNull = { kind: 'isNull', fieldId: 2 };
  const ne = { kind: 'compare', op: 'ne', fieldId: 2, value: 7n };
  test.each<[Json, unknown]>([
    [true, TRUE],
    [false, FALSE],
    [{ type: 'true' }, TRUE],
    [{ type: 'false' }, FALSE],
    [{ type: 'literal', value: false }, FALSE],
    [{ type: 'not', child: true }, FALSE],
    [{ type: 'is-null', term: 'int' }, isNull],
    [{ type: 'IS_NULL', child: { type: 'reference', id: 2 } }, isNull],
    [{ type: 'not', child: { type: 'not-null', term: 'int' } }, isNull],
    [
      { type: 'eq', term: 'int', value: 7 },
      { ...ne, op: 'eq' },
    ],
    [
      { type: 'not-eq', term: 'int', value: 7 },
      { kind: 'or', children: [isNull, ne] },
    ],
    [
      { type: 'not', child: { type: 'eq', term: 'int', value: 7 } },
      { kind: 'or', children: [isNull, ne] },
    ],
    [
      { type: 'not', child: { type: 'lt', term: 'int', value: 7 } },
      { ...ne, op: 'ge' },
    ],
    [
      { type: 'lt-eq', term: 'int', value: 7 },
      { ...ne, op: 'le' },
    ],
    [
      { type: 'in', term: 'int', values: [7, 8] },
      { kind: 'in', fieldId: 2, values: [7n, 8n] },
    ],
    [{ type: 'in', term: 'int', values: [] }, FALSE],
    [
      {
        type: 'in',
        child: { type: 'reference', name: 'int' },
        values: { type: 'literals', 'data-type': 'int', values: [7] },
      },
      { kind: 'in', fieldId: 2, values: [7n] },
    ],
    [
      { type: 'not-in', term: 'int', values: [7] },
      { kind: 'or', children: [isNull, ne] },
    ],
    [
      { type: 'is-nan', term: 'double' },
      { kind: 'compare', op: 'eq', fieldId: 5, value: Number.NaN },
    ],
    [{ type: 'is-nan', term: 'int' }, FALSE],
    [{ type: 'not-nan', term: 'int' }, TRUE],
    [
      { type: 'starts-with', term: 'string', value: 'ab' },
      { kind: 'startsWith', fieldId: 12, prefix: 'ab' },
    ],
    [
      { type: 'not-starts-with', term: 'string', value: 'ab' },
      {
        kind: 'or',
        children: [
          { kind: 'isNull', fieldId: 12 },
          { kind: 'or', children: [less(12, 'ab'), { kind: 'compare', op: 'ge', fieldId: 12, value: 'ac' }] },
        ],
      },
    ],
    [
      { type: 'not-starts-with', term: 'string', value: '' },
      { kind: 'isNull', fieldId: 12 },
    ],
    [
      { type: 'and', left: { type: 'eq', term: 'int', value: 7 }, right: { type: 'is-null', term: 'struct.X' } },
      {
        kind: 'and',
        children: [
          { ...ne, op: 'eq' },
          { kind: 'isNull', fieldId: 30 },
        ],
      },
    ],
  ])('%j', (json, predicate) => {
    expect(bind(json)).toEqual(predicate);
  });

  test('De Morgan: a negation goes down to the leaves', () => {
    const pair = { left: { type: 'lt', term: 'int', value: 7 }, right: { type: 'is-null', term: 'long' } };
    expect(bind({ type: 'not', child: { type: 'or', ...pair } })).toEqual({
      kind: 'and',
      children: [
        { kind: 'compare', op: 'ge', fieldId: 2, value: 7n },
        { kind: 'notNull', fieldId: 3 },
      ],
    });
  });

  test.each<[string, Json]>([
    [
      'a transform of a column',
      { type: 'eq', term: { type: 'transform', transform: 'bucket[16]', term: 'int' }, value: 3 },
    ],
    ['a function', { type: 'eq', left: { type: 'apply', function: 'f', arguments: [] }, right: 3 }],
    [
      'two columns',
      { type: 'lt', left: { type: 'reference', name: 'int' }, right: { type: 'reference', name: 'long' } },
    ],
    ['an element of a list', { type: 'is-null', term: 'list.element' }],
  ])('%s weakens to true, negated too', (_what, json) => {
    expect(bind(json)).toEqual(TRUE);
    expect(bind({ type: 'not', child: json })).toEqual(TRUE);
    expect(bind({ type: 'and', left: json, right: { type: 'eq', term: 'int', value: 7 } })).toEqual({
      ...ne,
      op: 'eq',
    });
  });

  test('identity is the column itself', () => {
    const term = { type: 'transform', transform: 'identity', term: { type: 'reference', term: 'int' } };
    expect(bind({ type: 'eq', term, value: 7 })).toEqual({ ...ne, op: 'eq' });
  });

  test('names are found with or without regard to case', () => {
    expect(refused(() => bind({ type: 'is-null', term: 'INT' }))).toContain("Cannot find field 'INT'");
    expect(bind({ type: 'is-null', term: 'STRUCT.x' }, false)).toEqual({ kind: 'isNull', fieldId: 30 });
    const twins = parseFields([
      { id: 1, name: 'a', required: false, type: 'int' },
      { id: 2, name: 'A', required: false, type: 'int' },
    ]);
    const filter = parseExpression({ type: 'is-null', term: 'a' });
    expect(refused(() => bindExpression(filter, new ColumnNames(twins, false)))).toContain('is ambiguous');
  });
});

describe('refused expressions', () => {
  const nested = (depth: number): Json => (depth === 0 ? true : { type: 'not', child: nested(depth - 1) });
  test.each<[string, Json]>([
    ['null', null],
    ['a number', 1],
    ['a list', []],
    ['no type', {}],
    ['an unknown type', { type: 'like', term: 'int', value: 7 }],
    ['a missing side', { type: 'and', left: true }],
    ['a missing value', { type: 'lt', term: 'int' }],
    ['a missing term', { type: 'lt', value: 7 }],
    ['a value too many', { type: 'is-null', term: 'int', value: 7 }],
    ['values for one', { type: 'eq', term: 'int', value: 1, values: [7] }],
    ['no list', { type: 'in', term: 'int', values: 7 }],
    ['a list in a list', { type: 'in', term: 'int', values: [[7]] }],
    ['null in a list', { type: 'in', term: 'int', values: [null] }],
    [
      'a transform of a transform',
      {
        type: 'is-null',
        term: { type: 'transform', transform: 'day', term: { type: 'transform', transform: 'day', term: 'date' } },
      },
    ],
    ['a term of another kind', { type: 'is-null', term: { type: 'lt' } }],
    ['too deep', nested(200)],
    ['too many values', { type: 'in', term: 'int', values: Array.from({ length: 100_001 }, () => 1) }],
  ])('%s', (_what, json) => {
    expect(refused(() => bind(json))).toMatch(/^Cannot (parse|bind) expression/);
  });

  test('a deep expression within the limit is read', () => {
    expect(bind(nested(150))).toEqual(TRUE);
  });
});
