import { expect, test } from 'vitest';
import { parseSchema as readSchema } from '#shared/iceberg/schema.ts';
import { parseJson, printJson } from '#shared/json.ts';
import { assignFreshIds, checkSchemaVersion, parseDocumentSchema, schemaText, walkFields } from './document-schema.ts';

const NESTED = {
  type: 'struct',
  'schema-id': 7,
  'identifier-field-ids': [30],
  fields: [
    { id: 30, name: 'id', required: true, type: 'long', doc: 'the key' },
    {
      id: 20,
      name: 'points',
      required: false,
      type: {
        type: 'list',
        'element-id': 21,
        'element-required': true,
        element: {
          type: 'struct',
          fields: [
            { id: 22, name: 'x', required: true, type: 'double' },
            { id: 23, name: 'y', required: true, type: 'double' },
          ],
        },
      },
    },
    {
      id: 10,
      name: 'tags',
      required: false,
      type: {
        type: 'map',
        'key-id': 11,
        key: 'string',
        'value-id': 12,
        'value-required': false,
        value: { type: 'struct', fields: [{ id: 13, name: 'v', required: false, type: 'Decimal( 9,2 )' }] },
      },
    },
  ],
};

test('fresh ids go level by level, as the reference implementation assigns them', () => {
  const { schema, newIds, lastId } = assignFreshIds(parseDocumentSchema(NESTED));
  expect(Object.fromEntries([...walkFields(schema)].map(({ path, id }) => [path, id]))).toEqual({
    id: 1,
    points: 2,
    tags: 3,
    'points.element': 4,
    'points.element.x': 5,
    'points.element.y': 6,
    'tags.key': 7,
    'tags.value': 8,
    'tags.value.v': 9,
  });
  expect(schema['identifier-field-ids']).toEqual([1]);
  expect(newIds.get(13)).toBe(9);
  expect(lastId).toBe(9);
});

test('types are kept in their canonical spelling, docs and defaults stay', () => {
  const schema = parseDocumentSchema(NESTED);
  expect([...walkFields(schema)].at(-1)?.type).toBe('decimal(9, 2)');
  expect(schema.fields[0]?.doc).toBe('the key');
});

const column = (type: unknown, more: object = {}) => ({
  type: 'struct',
  fields: [{ id: 1, name: 'c', required: true, type, ...more }],
});

test.each([
  ['no object', 3, 'expected an object'],
  ['another type at the top', { type: 'list' }, 'Cannot parse missing int: element-id'],
  ['no fields', { type: 'struct' }, 'missing list: fields'],
  ['an unknown type', column('varchar'), 'Cannot parse type string to primitive: varchar'],
  ['a decimal too wide', column('decimal(39,2)'), 'Invalid decimal type'],
  ['a geometry that readers cannot parse', column('geometry(srid:0'), 'Cannot parse type string'],
  ['an id that is no integer', { type: 'struct', fields: [{ id: '1', name: 'c', required: true, type: 'int' }] }, 'id'],
  ['an identifier that is absent', { ...column('int'), 'identifier-field-ids': [9] }, 'field does not exist'],
  ['an identifier that is a float', { ...column('double'), 'identifier-field-ids': [1] }, 'must not be float'],
  [
    'a duplicate name',
    { type: 'struct', fields: [column('int').fields[0], { ...column('int').fields[0], id: 2 }] },
    'multiple fields for name c',
  ],
  [
    'a duplicate id',
    { type: 'struct', fields: [column('int').fields[0], { ...column('int').fields[0], name: 'd' }] },
    'Multiple entries with same key',
  ],
])('refuses %s', (_what, json, message) => {
  expect(() => parseDocumentSchema(json as never)).toThrow(message);
});

test('refuses nesting that would overflow the stack', () => {
  let type: unknown = 'int';
  for (let i = 0; i < 60; i += 1) type = { type: 'list', 'element-id': i + 2, 'element-required': true, element: type };
  expect(() => parseDocumentSchema(column(type) as never)).toThrow('nested deeper than 50');
});

test('the error for a type that a format version lacks names the column', () => {
  expect(() => checkSchemaVersion(parseDocumentSchema(column('variant') as never), 2)).toThrow(
    'Invalid type for c: variant is not supported until v3',
  );
  expect(() => checkSchemaVersion(parseDocumentSchema(column('int', { 'initial-default': 1 }) as never), 2)).toThrow(
    'Invalid initial default for c',
  );
  expect(() => checkSchemaVersion(parseDocumentSchema(column('variant') as never), 3)).not.toThrow();
});

test('schemas compare by fields and identifiers, not by their id', () => {
  const text = (json: object): string => schemaText(parseDocumentSchema(json as never));
  expect(text({ ...NESTED, 'schema-id': 1 })).toBe(text(NESTED));
  expect(text({ ...NESTED, 'identifier-field-ids': [] })).not.toBe(text(NESTED));
});

test.each([
  ['Decimal( 9 ,2)', 'decimal(9, 2)'],
  [' FIXED[ 16 ] ', 'fixed[16]'],
  ['Geometry(srid:3857)', 'geometry(srid:3857)'],
  ['Timestamptz_NS', 'timestamptz_ns'],
])('%j is kept as %j, which readers of metadata understand', (given, kept) => {
  const schema = parseDocumentSchema(column(given) as never);
  expect(schema.fields[0]?.type).toBe(kept);
  expect(readSchema(parseJson(printJson(schema as never))).fields).toHaveLength(1);
});
