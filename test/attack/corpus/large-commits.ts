/** A request to the catalog whose size the sender chooses. */
export type LargeCommit = {
  readonly name: string;
  readonly method: string;
  /** Path below the catalog's prefix; `{namespace}` and `{table}` are replaced by the sender's. */
  readonly path: string;
  /** A body of about `bytes` bytes, with the same placeholders. */
  readonly of: (bytes: number) => string;
};

const TABLE = '/namespaces/{namespace}/tables/{table}';

/** `part(0)`, `part(1)`, ... with commas between them, up to the size. */
function listed(head: string, part: (i: number) => string, tail: string): (bytes: number) => string {
  return (bytes) => {
    const parts: string[] = [];
    for (let i = 0, size = head.length + tail.length; size < bytes; i += 1) {
      const next = part(i);
      parts.push(next);
      size += next.length + 1;
    }
    return head + parts.join(',') + tail;
  };
}

const updates = (name: string, part: (i: number) => string): LargeCommit => ({
  name,
  method: 'POST',
  path: TABLE,
  of: listed('{"requirements":[],"updates":[', part, ']}'),
});
const inUpdate = (name: string, head: string, part: (i: number) => string, tail: string): LargeCommit => ({
  name,
  method: 'POST',
  path: TABLE,
  of: listed(`{"requirements":[],"updates":[${head}`, part, `${tail}]}`),
});

const field = (i: number): string => `{"id":${i + 1},"name":"c${i}","required":false,"type":"long"}`;
const schema = (i: number): string => `{"type":"struct","schema-id":${i},"fields":[${field(i)}]}`;
const nested = (i: number): string =>
  `{"id":${i + 1},"name":"c${i}","required":false,"type":{"type":"struct","fields":[]}}`;

/**
 * Requests that are the most expensive to read, check and apply for their size. Whether the catalog takes or refuses them, nobody else may
 * wait for them.
 */
export const LARGE_COMMITS: readonly LargeCommit[] = [
  updates(
    'snapshots',
    (i) =>
      `{"action":"add-snapshot","snapshot":{"snapshot-id":${i + 1},"sequence-number":${i + 1},"timestamp-ms":${Date.now()},` +
      `"manifest-list":"file:///none/${i}.avro","summary":{"operation":"append"}}}`,
  ),
  updates('schemas', (i) => `{"action":"add-schema","schema":${schema(i)}}`),
  inUpdate('a wide schema', '{"action":"add-schema","schema":{"type":"struct","schema-id":1,"fields":[', field, ']}}'),
  inUpdate(
    'structs in a schema',
    '{"action":"add-schema","schema":{"type":"struct","schema-id":1,"fields":[',
    nested,
    ']}}',
  ),
  inUpdate('properties', '{"action":"set-properties","updates":{', (i) => `"p${i}":"${i}"`, '}}'),
  updates('properties one by one', (i) => `{"action":"set-properties","updates":{"p${i}":"${i}"}}`),
  inUpdate('one property', '{"action":"set-properties","updates":{"p":"', () => 'x'.repeat(1_000), '"}}'),
  inUpdate('removed properties', '{"action":"remove-properties","removals":[', (i) => `"p${i}"`, ']}'),
  inUpdate('removed snapshots', '{"action":"remove-snapshots","snapshot-ids":[', (i) => String(i), ']}'),
  updates('branches', (i) => `{"action":"set-snapshot-ref","ref-name":"b${i}","type":"branch","snapshot-id":1}`),
  updates('orders', (i) => `{"action":"add-sort-order","sort-order":{"order-id":${i},"fields":[]}}`),
  updates(
    'specs',
    (i) =>
      `{"action":"add-spec","spec":{"spec-id":${i},"fields":[{"source-id":1,"transform":"bucket[${i + 1}]","name":"p${i}"}]}}`,
  ),
  updates('nothings', () => '{}'),
  updates('lists', () => '[]'),
  {
    name: 'requirements',
    method: 'POST',
    path: TABLE,
    of: listed(
      '{"updates":[],"requirements":[',
      (i) => `{"type":"assert-ref-snapshot-id","ref":"b${i}","snapshot-id":null}`,
      ']}',
    ),
  },
  {
    name: 'a wide table',
    method: 'POST',
    path: '/namespaces/{namespace}/tables',
    of: listed('{"name":"wide","schema":{"type":"struct","fields":[', field, ']}}'),
  },
  {
    name: 'a view',
    method: 'POST',
    path: '/namespaces/{namespace}/views',
    of: listed(
      '{"name":"v","schema":{"type":"struct","fields":[]},"properties":{},"view-version":{"version-id":1,"timestamp-ms":1,' +
        '"schema-id":0,"summary":{},"default-namespace":["default"],"representations":[',
      (i) => `{"type":"sql","sql":"SELECT ${i}","dialect":"d${i}"}`,
      ']}}',
    ),
  },
  {
    name: 'properties of a namespace',
    method: 'POST',
    path: '/namespaces/{namespace}/properties',
    of: listed('{"removals":[],"updates":{', (i) => `"p${i}":"${i}"`, '}}'),
  },
  {
    name: 'removed properties of a namespace',
    method: 'POST',
    path: '/namespaces/{namespace}/properties',
    of: listed('{"updates":{},"removals":[', (i) => `"p${i}"`, ']}'),
  },
  {
    name: 'a filter',
    method: 'POST',
    path: `${TABLE}/plan`,
    of: listed('{"filter":{"type":"in","term":"a","values":[', (i) => String(i), ']}}'),
  },
  {
    name: 'columns of a scan',
    method: 'POST',
    path: `${TABLE}/plan`,
    of: listed('{"select":[', (i) => `"a${i}"`, ']}'),
  },
  {
    name: 'a report',
    method: 'POST',
    path: `${TABLE}/metrics`,
    of: listed(
      '{"report-type":"scan-report","table-name":"t","snapshot-id":1,"filter":true,"schema-id":0,"projected-field-ids":[1],' +
        '"projected-field-names":["a"],"metrics":{',
      (i) => `"m${i}":{"unit":"count","value":${i}}`,
      '}}',
    ),
  },
  {
    name: 'a transaction',
    method: 'POST',
    path: '/transactions/commit',
    of: listed(
      '{"table-changes":[{"identifier":{"namespace":["{namespace}"],"name":"{table}"},"requirements":[],"updates":[',
      (i) => `{"action":"set-properties","updates":{"p${i}":"${i}"}}`,
      ']}]}',
    ),
  },
];
