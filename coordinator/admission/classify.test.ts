import { describe, expect, test } from 'vitest';
import { classify } from './classify.ts';

const NOTHING = { joins: 0, windows: 0, aggregates: 0, scans: 1, estimatedRows: 1_000 };

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
    expect(classify({ ...NOTHING, ...features }, 'auto')).toBe(expected);
  });

  test.each(['interactive', 'medium', 'batch'])('service.workload_class %s overrides', (setting) => {
    for (const joins of [0, 1, 3]) expect(classify({ ...NOTHING, joins }, setting)).toBe(setting);
  });
});
