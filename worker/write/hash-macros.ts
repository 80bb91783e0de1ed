import { HASH_FUNCTIONS } from './transform-sql.ts';

/**
 * Macros for the hash of `bucket`, because DuckDB has no Murmur3: 32 bit, x86 variant, seed 0, as an unsigned integer (Iceberg
 * specification, appendix B; `shared/iceberg/murmur3.ts` is the same in TypeScript). Macros, unlike functions of ours, run on all threads of a
 * task. Text is hashed through its hexadecimal form, four bytes at a time.
 */
export const HASH_MACROS: readonly string[] = [
  macro('multiply(a, b)', '(a * b) & 4294967295'),
  macro('rotate(a, bits)', '((a * (1::UBIGINT << bits)) & 4294967295) | (a >> (32 - bits))'),
  macro(
    'scramble(block)',
    call('multiply', call('rotate', call('multiply', 'block', '3432918353'), '15'), '461845907'),
  ),
  macro(
    'add(hash, block)',
    `(${call('rotate', `xor(hash, ${call('scramble', 'block')})`, '13')} * 5 + 3864292196) & 4294967295`,
  ),
  macro('mix(hash, bits, factor)', call('multiply', 'xor(hash, hash >> bits)', 'factor')),
  // A list of one element and a lambda give a value a name, so that its text is not repeated where it is used twice.
  macro(
    'finish(hash)',
    `list_transform([${call('mix', call('mix', 'hash', '16', '2246822507'), '13', '3266489909')}], lambda h: xor(h, h >> 16))[1]`,
  ),
  // Four bytes in hexadecimal, little-endian.
  macro('block(hex)', `('0x' || hex[7:8] || hex[5:6] || hex[3:4] || hex[1:2])::UBIGINT`),
  macro(
    'hex(hex)',
    call(
      'finish',
      `xor(
        xor(
          list_reduce(
            list_transform(range(len(hex) // 8), lambda i: ${call('block', 'hex[8 * i + 1 : 8 * i + 8]')}),
            lambda hash, block: ${call('add', 'hash', 'block')},
            0::UBIGINT
          ),
          CASE WHEN len(hex) % 8 = 0 THEN 0::UBIGINT
            ELSE ${call('scramble', call('block', `rpad(hex[len(hex) // 8 * 8 + 1 :], 8, '0')`))} END
        ),
        (len(hex) // 2)::UBIGINT
      )`,
    ),
  ),
  `CREATE OR REPLACE TEMP MACRO ${HASH_FUNCTIONS.integer}(value) AS ${call(
    'finish',
    `xor(${call(
      'add',
      call('add', '0::UBIGINT', '(value & 4294967295)::UBIGINT'),
      '((value >> 32) & 4294967295)::UBIGINT',
    )}, 8::UBIGINT)`,
  )}`,
  `CREATE OR REPLACE TEMP MACRO ${HASH_FUNCTIONS.text}(value) AS ${call('hex', 'hex(value)')}`,
  `CREATE OR REPLACE TEMP MACRO ${HASH_FUNCTIONS.bytes}(value) AS ${call('hex', 'hex(value)')}`,
  // The fewest bytes that hold the number, two's complement, big-endian.
  `CREATE OR REPLACE TEMP MACRO ${HASH_FUNCTIONS.decimal}(value) AS ${call(
    'hex',
    `right(
      lpad(hex(value), 32, CASE WHEN value < 0 THEN 'F' ELSE '0' END),
      2 + 2 * len(list_filter(range(1, 16), lambda n: value < -(1::HUGEINT << (8 * n - 1)) OR value >= (1::HUGEINT << (8 * n - 1))))
    )`,
  )}`,
];

function macro(head: string, body: string): string {
  return `CREATE OR REPLACE TEMP MACRO skein_hash_${head} AS ${body}`;
}

function call(name: string, ...values: readonly string[]): string {
  return `skein_hash_${name}(${values.join(', ')})`;
}
