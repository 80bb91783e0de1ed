import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** Tables of random types and values that COPY INTO @stage writes, and COPY INTO a table reads: the same rows, or refused when written. */
let cluster: Cluster;
let rounds = 0;

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.sql('CREATE SCHEMA lake.round_trip');
  await cluster.sql('CREATE STAGE lake.round_trip.box');
});

/** A type as a table declares it, and the SQL of its values. `isExact`: JSON holds each of them. */
type Kind = { readonly type: string; readonly value: fc.Arbitrary<string> };

const TEXTS = [
  '',
  'NULL',
  'null',
  String.raw`\N`,
  '\\',
  '"',
  "'",
  ',',
  'a=b',
  '[x]',
  '{y}',
  ' z ',
  'é👩',
  '\n',
  '\r\n',
  '\t',
  '\x01',
  'NaN',
  '0.1234567890123456789',
];
const text = fc.array(fc.constantFrom(...TEXTS), { minLength: 0, maxLength: 2 }).map((parts) => parts.join(''));
const literals = (type: string, ...values: readonly string[]): Kind => ({
  type,
  value: fc.constantFrom(...values).map((value) => `CAST(${quoteLiteral(value)} AS ${type})`),
});
const bytes = fc
  .constantFrom('', '\\x00', '\\xFF\\x5C', 'a', '\\x22\\x27', '\\x0A\\x0D', '\\x2C')
  .map((value) => `CAST(${quoteLiteral(value)} AS BLOB)`);

const KEYS: readonly Kind[] = [
  { type: 'VARCHAR', value: text.map(quoteLiteral) },
  { type: 'BINARY', value: bytes },
  literals('INT', '0', '-1', '2147483647'),
  literals('DATE', '2024-02-29', '0001-01-01', '0044-03-15 (BC)', '12345-01-01', 'infinity'),
  literals('UUID', '550e8400-e29b-41d4-a716-446655440000', '00000000-0000-0000-0000-000000000000'),
];
const SCALARS: readonly Kind[] = [
  ...KEYS,
  literals('BOOLEAN', 'true', 'false'),
  literals('BIGINT', '9223372036854775807', '-9223372036854775808', '9007199254740993'),
  literals('FLOAT', '0.1', '3.4028235e38', '-0', '1e-45', 'nan', 'inf'),
  literals('DOUBLE', '0.1', '1.7976931348623157e308', '123456789.12345678', '5e-324', '-inf', '1e22'),
  literals('DECIMAL(15,2)', '1234567890123.45', '-0.01', '0'),
  literals('DECIMAL(38,18)', '12345678901234567890.123456789012345678', '-0.000000000000000001', '1'),
  literals('TIME', '00:00:00', '23:59:59.999999', '12:34:56.7'),
  literals('TIMESTAMP', '2024-02-29 12:34:56.789012', '1969-12-31 23:59:59.999999', '0001-01-01 00:00:00'),
  literals('TIMESTAMP WITH TIME ZONE', '2024-02-29 12:34:56.789012+00', '1969-12-31 23:59:59.999999+05'),
];

const names = fc.uniqueArray(fc.constantFrom('a', 'b c', 'é', "it's", 'q"q', 'x,y', '1', 'null'), {
  minLength: 1,
  maxLength: 3,
});
const orNull = (value: fc.Arbitrary<string>, type: string): fc.Arbitrary<string> =>
  fc.oneof({ weight: 4, arbitrary: value }, { weight: 1, arbitrary: fc.constant(`CAST(NULL AS ${type})`) });

const kind: fc.Arbitrary<Kind> = fc.letrec<{ kind: Kind; nested: Kind }>((tie) => ({
  kind: fc.oneof({ maxDepth: 2, withCrossShrink: true }, fc.constantFrom(...SCALARS), tie('nested')),
  nested: fc.oneof(
    tie('kind').map(({ type, value }) => ({
      type: `ARRAY<${type}>`,
      value: fc
        .array(orNull(value, duck(type)), { maxLength: 3 })
        .map((list) => `CAST([${list.join(', ')}] AS ${duck(`ARRAY<${type}>`)})`),
    })),
    fc.tuple(names, fc.array(tie('kind'), { minLength: 3, maxLength: 3 })).map(([list, kinds]) => {
      const fields = list.map((name, i) => ({ name, kind: must(kinds[i], 'three of them') }));
      const type = `STRUCT<${fields.map((field) => `${quoteIdentifier(field.name)}: ${field.kind.type}`).join(', ')}>`;
      const values = fields.map((field) => orNull(field.kind.value, duck(field.kind.type)));
      const pack = (all: readonly string[]): string =>
        `struct_pack(${fields.map((field, i) => `${quoteIdentifier(field.name)} := ${all[i]}`).join(', ')})`;
      return { type, value: fc.tuple(...values).map(pack) };
    }),
    fc.tuple(fc.constantFrom(...KEYS), tie('kind')).map(([key, value]) => {
      const type = `MAP<${key.type}, ${value.type}>`;
      const entries = fc.uniqueArray(fc.tuple(key.value, orNull(value.value, duck(value.type))), {
        maxLength: 3,
        selector: ([one]) => one,
      });
      return {
        type,
        value: entries.map(
          (list) => `CAST(MAP {${list.map(([one, other]) => `${one}: ${other}`).join(', ')}} AS ${duck(type)})`,
        ),
      };
    }),
  ),
})).kind;

/** The type in DuckDB's spelling, for casts. */
function duck(type: string): string {
  if (type.startsWith('ARRAY<')) return `${duck(type.slice(6, -1))}[]`;
  const parts = (list: string): readonly string[] => divide(list);
  if (type.startsWith('MAP<')) return `MAP(${parts(type.slice(4, -1)).map(duck).join(', ')})`;
  if (!type.startsWith('STRUCT<')) return type === 'BINARY' ? 'BLOB' : type;
  const fields = parts(type.slice(7, -1)).map((field) => {
    const end = /^"(?:[^"]|"")*"/.exec(field)?.[0] ?? '';
    return `${end} ${duck(field.slice(end.length + 2))}`;
  });
  return `STRUCT(${fields.join(', ')})`;
}

/** Divides a list of types at its own commas. */
function divide(list: string): readonly string[] {
  const parts: string[] = [];
  let [depth, start, isQuoted] = [0, 0, false];
  for (let i = 0; i < list.length; i += 1) {
    const sign = list.charAt(i);
    if (sign === '"') isQuoted = !isQuoted;
    if (isQuoted) continue;
    if ('<('.includes(sign)) depth += 1;
    if ('>)'.includes(sign)) depth -= 1;
    if (sign !== ',' || depth > 0) continue;
    parts.push(list.slice(start, i).trim());
    start = i + 1;
  }
  return [...parts, list.slice(start).trim()];
}

const ROWS = 8;
const column = kind.chain(({ type, value }) =>
  fc.record({
    type: fc.constant(type),
    values: fc.array(orNull(value, duck(type)), { minLength: ROWS, maxLength: ROWS }),
  }),
);
const FORMATS = ['TYPE = CSV', 'TYPE = JSON', 'TYPE = PARQUET'];

test('what COPY INTO @stage writes, COPY INTO reads back, or it was refused with its column', async () => {
  let [written, refused] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.array(column, { minLength: 8, maxLength: 8 }), async (columns) => {
      rounds += 1;
      const [from, to] = [`lake.round_trip.f${rounds}`, `lake.round_trip.t${rounds}`];
      const declared = ['id INT', ...columns.map(({ type }, i) => `c${i} ${type}`)].join(', ');
      await cluster.sql(`CREATE TABLE ${from} (${declared})`);
      const rows = Array.from(
        { length: ROWS },
        (_, row) => `(${[row, ...columns.map(({ values }) => values[row])].join(', ')})`,
      );
      await cluster.sql(`INSERT INTO ${from} VALUES ${rows.join(', ')}`);
      for (const [i, format] of FORMATS.entries()) {
        const folder = `@lake.round_trip.box/${rounds}/${i}`;
        const held = await writeHeld(
          columns.length,
          (list) => `COPY INTO ${folder}/ FROM (SELECT ${list} FROM ${from}) FILE_FORMAT = (${format})`,
        );
        const list = ['id', ...held].join(', ');
        written += held.length;
        refused += columns.length - held.length;
        await cluster.sql(`CREATE OR REPLACE TABLE ${to} (${declared})`);
        await cluster.sql(`COPY INTO ${to} (${list}) FROM ${folder} FILE_FORMAT = (${format})`);
        const texts = ['id', ...held.map((name) => `${name}::VARCHAR`)].join(', ');
        const rowsOf = (table: string): Promise<unknown> => cluster.sql(`SELECT ${texts} FROM ${table} ORDER BY id`);
        expect(await rowsOf(to), format).toEqual(await rowsOf(from));
        const differs = held.map((name) => `f.${name} IS DISTINCT FROM t.${name}`).join(' OR ');
        expect(
          await cluster.sql(`SELECT count(*)::INT FROM ${from} f JOIN ${to} t USING (id) WHERE ${differs || 'false'}`),
          format,
        ).toEqual([[0]]);
      }
    }),
    { numRuns: 4, endOnFailure: true },
  );
  // Only infinity and NaN are no JSON.
  expect(refused).toBeLessThan(written / 8);
});

/** Writes the columns that the format holds. @returns their names */
async function writeHeld(count: number, statement: (list: string) => string): Promise<readonly string[]> {
  let held = Array.from({ length: count }, (_, i) => `c${i}`);
  for (;;) {
    const { body } = await cluster.query(statement(['id', ...held].join(', ')));
    if (body.error === undefined) return held;
    const name = /of the column (c\d+)\b/.exec(body.message ?? '')?.[1];
    if (name === undefined) throw new Error(`${body.error}: ${body.message}`);
    expect({ ...body, name }).toMatchObject({
      error: 'NOT_SUPPORTED',
      sql_state: '0A000',
      name: expect.any(String) as string,
    });
    held = held.filter((one) => one !== name);
  }
}
