import { describe, expect, test } from 'vitest';
import { readViewDefinition, schemaOf } from './view-definition.ts';

const viewOf = (type: string): Parameters<typeof readViewDefinition>[0] => ({
  'view-uuid': 'u',
  'current-version-id': 2,
  properties: {},
  schemas: [{ type: 'struct', 'schema-id': 0, fields: [{ id: 1, name: 'a', required: false, type }] }],
  versions: [7, 2].map((id) => ({
    'version-id': id,
    'timestamp-ms': 1,
    'schema-id': 0,
    summary: {},
    'default-namespace': ['s'],
    representations: [{ type: 'sql', dialect: 'duckdb', sql: 'SELECT 1 AS a' }],
  })),
});

describe('the document of a view', () => {
  test('gives its current version, and the highest id', () => {
    expect(readViewDefinition(viewOf('long'))).toMatchObject({ versionId: 2, lastVersionId: 7, storageTable: null });
    expect(schemaOf(readViewDefinition(viewOf('long'))).fields).toMatchObject([{ name: 'a', type: { kind: 'long' } }]);
  });

  test('is read though it has columns of an unknown type, which are an error where they are wanted', () => {
    const view = readViewDefinition(viewOf('quaternion'));
    expect(view.uuid).toBe('u');
    expect(() => schemaOf(view)).toThrow('its columns cannot be read: unknown type "quaternion"');
  });
});
