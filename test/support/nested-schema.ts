/** A schema of Iceberg with a list, a map, a struct, defaults and an identifier, from which tests of hostile JSON begin. */
export const NESTED_SCHEMA = {
  type: 'struct',
  'schema-id': 0,
  'identifier-field-ids': [1],
  fields: [
    { id: 1, name: 'id', required: true, type: 'long', 'initial-default': 7, 'write-default': 8 },
    {
      id: 2,
      name: 'tags',
      required: false,
      type: { type: 'list', 'element-id': 3, element: 'string', 'element-required': false },
    },
    {
      id: 4,
      name: 'm',
      required: false,
      type: { type: 'map', 'key-id': 5, key: 'string', 'value-id': 6, value: 'decimal(9, 2)', 'value-required': false },
    },
    {
      id: 7,
      name: 's',
      required: false,
      type: { type: 'struct', fields: [{ id: 8, name: 'x', required: false, type: 'fixed[4]' }] },
    },
    { id: 9, name: 'ts', required: false, type: 'timestamptz_ns' },
  ],
};
