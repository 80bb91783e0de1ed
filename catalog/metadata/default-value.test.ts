import { expect, test } from 'vitest';
import { parseJson, type Json } from '#shared/json.ts';
import { checkDefault } from './default-value.ts';
import { newTableMetadata, parseCreateTable } from './new-table.ts';
import { parseTableDocument } from './parse-table-document.ts';
import { metadataText } from './print-metadata.ts';
import { parseDocumentSchema } from './document-schema.ts';

test.each<[string, string]>([
  ['boolean', 'true'],
  ['int', '-2147483648'],
  ['long', '9223372036854775807'],
  ['float', '1'],
  ['double', '-1.5e300'],
  ['decimal(9, 2)', '"14.20"'],
  ['decimal(9, 0)', '"-14"'],
  ['decimal(2, 2)', '"0.14"'],
  ['decimal(9, 2)', '"0000000000.00"'],
  ['date', '"2020-02-29"'],
  ['date', '"2017-11-16"'],
  ['time', '"22:31:08.123456"'],
  ['timestamp', '"2017-11-16T22:31:08.123456"'],
  ['timestamptz', '"2017-11-16T22:31:08.123456+00:00"'],
  ['timestamp_ns', '"2017-11-16T22:31:08.123456789"'],
  ['timestamptz_ns', '"2017-11-16T22:31:08.123456789+00:00"'],
  ['string', '""'],
  ['uuid', '"f79c3e09-677c-4bbd-a479-3f349cb785e7"'],
  ['fixed[4]', '"00010203"'],
  ['binary', '"00ff"'],
])('a default of %s may be %s', (type, json) => {
  expect(() => checkDefault(type, parseJson(json))).not.toThrow();
});

test.each<[string, string]>([
  ['boolean', '"true"'],
  ['int', '2147483648'],
  ['int', '1.5'],
  ['long', '9223372036854775808'],
  ['long', '"1"'],
  ['double', '1e400'],
  ['double', '"NaN"'],
  ['decimal(9, 2)', '14.2'],
  ['decimal(9, 2)', '"14.2"'],
  ['decimal(9, 2)', '".00"'],
  ['decimal(9, 2)', '"12345678.00"'],
  ['date', '"2019-02-29"'],
  ['time', '"24:00:00"'],
  ['timestamp', '"2017-11-16T22:31:08.123456789"'],
  ['timestamptz', '"2017-13-16T22:31:08Z"'],
  ['date', '17000'],
  ['timestamptz', '"2017-11-16T22:31:08+01:00"'],
  ['timestamp', '"2017-11-16 22:31:08"'],
  ['uuid', '"f79c3e09"'],
  ['fixed[4]', '"0001"'],
  ['binary', '"0g"'],
  ['variant', '1'],
  ['geometry', '"x"'],
  ['unknown', '0'],
])('a default of %s may not be %s', (type, json) => {
  expect(() => checkDefault(type, parseJson(json))).toThrow('Cannot parse default as a');
});

test('a default may have as many bytes as a body', () => {
  const hex = '0f'.repeat(10_000_000);
  expect(() => checkDefault('binary', hex)).not.toThrow();
  expect(() => checkDefault('binary', `${hex}g`)).toThrow('Cannot parse default as a');
});

const field = (id: number, name: string, type: Json, more: object = {}): Json => ({
  id,
  name,
  required: false,
  type,
  ...more,
});

test('format 3 keeps defaults, new types and encryption keys as they are, over any number of rounds', () => {
  const types = [
    'variant',
    'unknown',
    'timestamp_ns',
    'timestamptz_ns',
    'geometry(srid:3857)',
    'geography(OGC:CRS84, spherical)',
  ];
  const schema = {
    type: 'struct',
    fields: [
      field(1, 'f', 'float', { 'initial-default': 1, 'write-default': -0 }),
      field(2, 'd', 'double', { 'initial-default': 1e21, 'write-default': 2.5 }),
      field(3, 'l', 'long', { 'initial-default': 9_223_372_036_854_775_807n }),
      field(4, 's', {
        type: 'struct',
        fields: [field(5, 'x', 'double', { 'initial-default': 12_345_678_901_234_567_890n })],
      }),
      ...types.map((type, i) => field(10 + i, type, type)),
    ],
  };
  const request = parseCreateTable({ name: 't', schema: schema as Json, properties: { 'format-version': '3' } });
  const table = newTableMetadata(request, { uuid: 'u', location: 'file:///wh/t', nowMs: 5, owner: 'o' });
  const keyed = {
    ...table,
    'encryption-keys': [
      { 'key-id': 'k', 'encrypted-key-metadata': 'AAAA', 'encrypted-by-id': 'm', properties: { a: 'b' } },
    ],
  };
  const text = metadataText(parseTableDocument(parseJson(metadataText(keyed))));
  for (const part of [
    '"initial-default":1.0',
    '"write-default":-0.0',
    '"initial-default":1e+21',
    '"initial-default":9223372036854775807',
    '"initial-default":12345678901234567000.0',
    '"encrypted-by-id":"m"',
    ...types.map((type) => `"type":"${type}"`),
  ]) {
    expect(text).toContain(part);
  }
  let again = text;
  for (let i = 0; i < 3; i += 1) again = metadataText(parseTableDocument(parseJson(again)));
  expect(again).toBe(text);
});

test('a required field of the unknown type is refused', () => {
  const fields = [{ id: 1, name: 'u', required: true, type: 'unknown' }];
  expect(() => parseDocumentSchema({ type: 'struct', fields })).toThrow(
    'Cannot create required field with unknown type: u',
  );
});
