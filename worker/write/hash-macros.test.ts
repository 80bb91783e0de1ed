import { randomBytes } from 'node:crypto';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { bytesOfInteger } from '#shared/iceberg/big-endian.ts';
import { murmur3 } from '#shared/iceberg/murmur3.ts';
import { longBytes } from '#shared/iceberg/transform.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';
import { HASH_MACROS } from './hash-macros.ts';
import { HASH_FUNCTIONS } from './transform-sql.ts';

test('the macros hash as murmur3 does', async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  for (const sql of HASH_MACROS) await connection.run(sql);
  const integers = [0n, 1n, -1n, 34n, 2n ** 63n - 1n, -(2n ** 63n), randomBytes(8).readBigInt64LE()];
  const wide = [...integers, 127n, 128n, -128n, -129n, 1420n, 10n ** 38n - 1n, 1n - 10n ** 38n];
  const texts = ['', 'a', 'ab', 'abc', 'iceberg', 'Ä€😀', 'x'.repeat(1000), randomBytes(5).toString('hex')];
  const cases: readonly (readonly [string, string, readonly (readonly [value: string, bytes: Uint8Array])[]])[] = [
    [HASH_FUNCTIONS.integer, 'v::BIGINT', integers.map((n) => [String(n), longBytes(n)])],
    [HASH_FUNCTIONS.decimal, 'v::HUGEINT', wide.map((n) => [String(n), bytesOfInteger(n)])],
    [HASH_FUNCTIONS.text, 'v', texts.map((text) => [text, Buffer.from(text)])],
    [HASH_FUNCTIONS.bytes, 'encode(v)', texts.map((text) => [text, Buffer.from(text)])],
  ];
  for (const [name, value, values] of cases) {
    const list = values.map(([text]) => quoteLiteral(text)).join(', ');
    const rows = await connection.runAndReadAll(
      `SELECT ${name}(${value}) & 2147483647 FROM unnest([${list}, NULL]) t(v)`,
    );
    const hashes = rows.getRows().map(([hash]) => (hash === null ? null : Number(hash)));
    expect(hashes, name).toEqual([...values.map(([, bytes]) => murmur3(bytes) & 0x7fffffff), null]);
  }
  connection.closeSync();
});
