import { expect, test } from 'vitest';
import { parseJson, printJson } from '#shared/json.ts';
import { newTableMetadata, parseCreateTable } from './new-table.ts';
import { parseTableDocument } from './parse-table-document.ts';

/** Metadata as Iceberg 0.8 wrote it: one schema, one spec, no lists, no references. */
const OLD = `{
  "format-version": 1,
  "table-uuid": "d20125c8-7284-442c-9aea-15fee620737c",
  "location": "file:///wh/t",
  "last-updated-ms": 1602638573874,
  "last-column-id": 3,
  "schema": {"type": "struct", "fields": [
    {"id": 1, "name": "x", "required": true, "type": "long"},
    {"id": 2, "name": "d", "required": false, "type": "decimal(9,2)"}
  ]},
  "partition-spec": [{"name": "x", "transform": "identity", "source-id": 1}],
  "current-snapshot-id": 3051729675574597004,
  "snapshots": [{"snapshot-id": 3051729675574597004, "timestamp-ms": 1602638573590, "manifests": ["file:///wh/t/m1.avro"]}]
}`;

test('a file of the first version gets the lists that today’s readers want', () => {
  expect(parseTableDocument(parseJson(OLD))).toMatchObject({
    'current-schema-id': 0,
    schemas: [{ 'schema-id': 0, fields: [{ name: 'x' }, { type: 'decimal(9, 2)' }] }],
    'partition-specs': [{ 'spec-id': 0, fields: [{ 'field-id': 1000 }] }],
    'last-partition-id': 1000,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    'current-snapshot-id': 3_051_729_675_574_597_004n,
    refs: { main: { 'snapshot-id': 3_051_729_675_574_597_004n, type: 'branch' } },
    'snapshot-log': [],
  });
});

test('a file of the first version without a uuid has the same one whenever it is read', () => {
  const uuid = (): string => parseTableDocument(parseJson(OLD.replace('"table-uuid"', '"other"')))['table-uuid'];
  expect(uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(uuid()).toBe(uuid());
});

test('a summary without its operation is read as an overwrite', () => {
  const text = OLD.replace('"manifests"', '"summary": {"added-files": "1"}, "manifests"');
  expect(parseTableDocument(parseJson(text)).snapshots[0]?.summary).toEqual({
    operation: 'overwrite',
    'added-files': '1',
  });
});

test.each(['1', '2', '3'])('what we write in version %s is read back as it was', (version) => {
  const schema = { type: 'struct', fields: [{ id: 1, name: 'a', required: false, type: 'long' }] };
  const request = parseCreateTable({ name: 't', schema, properties: { 'format-version': version } });
  const table = newTableMetadata(request, { uuid: 'u', location: 'file:///wh/t', nowMs: 5, owner: 'o' });
  expect(printJson(parseTableDocument(parseJson(printJson(table))))).toBe(printJson(table));
});

test.each([
  ['"format-version": 1', '"format-version": 4', 'unsupported version 4'],
  ['"location"', '"other"', 'missing string: location'],
  [
    '"current-snapshot-id": 3051729675574597004',
    '"current-snapshot-id": 7',
    'Snapshot for reference main does not exist',
  ],
  ['"source-id": 1', '"source-id": 9', 'Cannot find source column'],
])('%s as %s is refused', (from, to, message) => {
  expect(() => parseTableDocument(parseJson(OLD.replace(from, to)))).toThrow(
    expect.objectContaining({ code: 'INVALID_REQUEST', message: expect.stringContaining(message) as string }) as Error,
  );
});
