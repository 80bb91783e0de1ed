import { expect, test } from 'vitest';
import type { Predicate } from '#shared/iceberg/predicate.ts';
import type { Field, IcebergType } from '#shared/iceberg/type.ts';
import { predicateSql } from './predicate-sql.ts';

const field = (id: number, name: string, type: IcebergType): Field => ({ id, name, required: false, type });
const FIELDS = [
  field(1, 'i', { kind: 'int' }),
  field(2, 's"', { kind: 'string' }),
  field(3, 'd', { kind: 'date' }),
  field(4, 'f', { kind: 'double' }),
  field(5, 'n', { kind: 'decimal', precision: 5, scale: 2 }),
];
const compare = (fieldId: number, value: bigint | string | number): Predicate => ({
  kind: 'compare',
  op: 'le',
  fieldId,
  value,
});

test.each<[Predicate, string | null]>([
  [{ kind: 'true' }, null],
  [{ kind: 'false' }, 'false'],
  [compare(1, 5_000_000_000n), '("i" <= (5000000000))'],
  [compare(1, 2n ** 70n), null],
  [compare(2, "o'hara"), `("s""" <= 'o''hara')`],
  [compare(2, 'a\0'), null],
  [compare(3, 19_723n), `("d" <= CAST('2024-01-01' AS DATE))`],
  [compare(3, 10n ** 9n), null],
  [compare(4, 1), null],
  [compare(5, 105n), `("n" <= CAST('1.05' AS DECIMAL(5,2)))`],
  [compare(5, 10n ** 5n), null],
  [compare(9, 1n), null],
  [{ kind: 'and', children: [compare(1, 1n), compare(4, 1)] }, '(("i" <= (1)))'],
  [{ kind: 'or', children: [compare(1, 1n), compare(4, 1)] }, null],
  [{ kind: 'or', children: [compare(1, 1n), { kind: 'isNull', fieldId: 4 }] }, '(("i" <= (1)) OR ("f" IS NULL))'],
  [{ kind: 'in', fieldId: 1, values: [1n, 2n] }, '("i" IN ((1), (2)))'],
  [{ kind: 'in', fieldId: 1, values: Array.from({ length: 101 }, (_, i) => BigInt(i)) }, null],
  [{ kind: 'startsWith', fieldId: 2, prefix: 'x' }, `starts_with("s""", 'x')`],
])('case %#: it is weaker where it cannot be said without a computation', (predicate, sql) => {
  expect(predicateSql(predicate, FIELDS)).toBe(sql);
});
