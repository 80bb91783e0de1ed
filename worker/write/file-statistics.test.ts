import { expect, test } from 'vitest';
import type { Literal } from '#shared/iceberg/predicate.ts';
import type { IcebergType } from '#shared/iceberg/type.ts';
import { parseStatistic } from './file-statistics.ts';

const micros = (text: string): bigint => BigInt(Date.parse(`${text}Z`)) * 1000n;

test.each<[IcebergType, string, Literal | undefined]>([
  [{ kind: 'boolean' }, '1', true],
  [{ kind: 'long' }, '-9223372036854775808', -9223372036854775808n],
  [{ kind: 'decimal', precision: 9, scale: 2 }, '-0.05', -5n],
  [{ kind: 'decimal', precision: 38, scale: 0 }, '12', 12n],
  [{ kind: 'double' }, '-inf', -Infinity],
  [{ kind: 'double' }, '1e+300', 1e300],
  [{ kind: 'date' }, '1969-12-31', -1n],
  [{ kind: 'date' }, '0001-01-01', -719162n],
  [{ kind: 'date' }, '12024-02-29', 3_672_207n],
  [{ kind: 'date' }, 'infinity', undefined],
  [{ kind: 'date' }, '0044-03-15 (BC)', undefined],
  [{ kind: 'time' }, '01:02:03.5', 3_723_500_000n],
  [{ kind: 'timestamp' }, '1969-12-31 23:59:59.999999', -1n],
  [{ kind: 'timestamp' }, '2024-01-01 00:00:01.5', micros('2024-01-01T00:00:01.500')],
  [{ kind: 'timestamptz' }, '2024-01-01 09:00:00+00', micros('2024-01-01T09:00:00')],
  [{ kind: 'binary' }, '00FF', Uint8Array.of(0, 255)],
  [{ kind: 'binary' }, 'x', undefined],
])('%o %s', (type, text, expected) => {
  expect(parseStatistic(type, text)).toStrictEqual(expected);
});
