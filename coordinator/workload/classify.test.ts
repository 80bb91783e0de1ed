import { describe, expect, test } from 'vitest';
import { QUERY_TYPES } from '../statement/query-type.ts';
import { classify, classOfType, printClass, reclassify } from './classify.ts';

const NOTHING = { joins: 0, windows: 0, aggregates: 0, scans: 1, estimatedRows: 1_000 };
const AUTO = { setting: 'auto' };

describe('classes by the plan', () => {
  test.each([
    ['no joins, no windows, below 100K rows', { aggregates: 2, scans: 2, estimatedRows: 99_999 }, 'interactive'],
    ['one join', { joins: 1 }, 'medium'],
    ['two joins', { joins: 2, aggregates: 1 }, 'medium'],
    ['a window', { windows: 1 }, 'medium'],
    ['three scans', { scans: 3 }, 'medium'],
    ['100K rows', { estimatedRows: 100_000 }, 'medium'],
    ['10M rows', { estimatedRows: 10_000_000 }, 'medium'],
    ['three joins', { joins: 3 }, 'batch'],
    ['a window and an aggregate', { windows: 1, aggregates: 1 }, 'batch'],
    ['above 10M rows', { estimatedRows: 10_000_001 }, 'batch'],
  ])('%s', (_what, features, expected) => {
    expect(classify({ ...NOTHING, ...features }, AUTO).workClass).toBe(expected);
  });

  test.each(['interactive', 'medium', 'batch'])('service.workload_class %s overrides', (setting) => {
    for (const joins of [0, 1, 3]) expect(classify({ ...NOTHING, joins }, { setting }).workClass).toBe(setting);
  });

  test('the type of a statement says whether it moves rows; the class of a write is known by its plan', () => {
    const known = QUERY_TYPES.flatMap((type) => {
      const found = classOfType(type);
      return found === null ? [] : [[type, printClass(found)]];
    });
    const expected = 'Workload class: interactive (it moves no rows, about 0 rows)';
    expect(known).toEqual(['ddl', 'show', 'set', 'transaction', 'explain'].map((type) => [type, expected]));
  });

  test('the estimate is printed, whether it is a reason or not', () => {
    expect(printClass(classify({ ...NOTHING, joins: 2 }, AUTO))).toBe(
      'Workload class: medium (2 joins, about 1,000 rows)',
    );
    const set = classify(NOTHING, { setting: 'batch' });
    expect(printClass(set)).toBe("Workload class: batch (SET service.workload_class = 'batch', about 1,000 rows)");
  });

  test('every reason is named', () => {
    const features = { ...NOTHING, joins: 1, scans: 3, estimatedRows: 123_456 };
    expect(printClass(classify(features, AUTO))).toBe('Workload class: medium (1 join, 3 scans, about 123,456 rows)');
    expect(printClass(classify(NOTHING, AUTO))).toBe(
      'Workload class: interactive (no joins, no windows, about 1,000 rows)',
    );
  });
});

describe('a query that outgrows its estimate tenfold', () => {
  const small = classify(NOTHING, AUTO);

  test.each([
    ['by few rows', { rows: 99_999, scheduledMs: 0 }, undefined],
    ['not tenfold', { rows: 9_999, scheduledMs: 9_999 }, undefined],
    ['by rows', { rows: 100_000, scheduledMs: 0 }, 'medium'],
    ['by many rows', { rows: 10_000_001, scheduledMs: 0 }, 'batch'],
    ['by time', { rows: 0, scheduledMs: 10_000 }, 'medium'],
  ])('%s', (_what, done, expected) => {
    expect(reclassify(small, done)?.workClass).toBe(expected);
  });

  test('goes on to batch, and says why', () => {
    const medium = { ...small, workClass: 'medium' as const };
    expect(reclassify(medium, { rows: 0, scheduledMs: 99_999 })).toBeNull();
    expect(reclassify(medium, { rows: 0, scheduledMs: 100_000 })).toMatchObject({
      workClass: 'batch',
      reasons: ['it has run for 100 s on the slots, 10 times what its class is for'],
    });
  });

  test('keeps a class that was set', () => {
    const set = classify(NOTHING, { setting: 'interactive' });
    expect(reclassify(set, { rows: 1e9, scheduledMs: 1e9 })).toBeNull();
  });
});
