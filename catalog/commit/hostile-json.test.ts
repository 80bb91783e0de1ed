import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { parseJson, type Json, type JsonObject } from '#shared/json.ts';
import { NESTED_SCHEMA } from '#test/support/nested-schema.ts';
import { checkLocations, ownFolders } from '../storage/table-location.ts';
import { commitMetadata, isCreate, parseCommit } from '../metadata/commit-metadata.ts';
import { metadataOfUpdates, newTableMetadata, parseCreateTable } from '../metadata/new-table.ts';
import { parseTableDocument } from '../metadata/parse-table-document.ts';
import { metadataText } from '../metadata/print-metadata.ts';

/** Requests that are nearly valid: each is refused as a bad request or a conflict, or makes metadata that can be read back. */

const CREATION = { uuid: 'd20125c8-7284-442c-9aea-15fee620737c', location: 'file:///wh/t', nowMs: 5, owner: 'o' };
const SPEC = { 'spec-id': 0, fields: [{ name: 'day', transform: 'day', 'source-id': 9, 'field-id': 1000 }] };
const ORDER = {
  'order-id': 1,
  fields: [{ transform: 'bucket[16]', 'source-id': 1, direction: 'asc', 'null-order': 'nulls-first' }],
};
const CREATE = {
  name: 't',
  location: 'file:///wh/t',
  schema: NESTED_SCHEMA,
  'partition-spec': SPEC,
  'write-order': ORDER,
  'stage-create': false,
  properties: { 'format-version': '3', 'write.data.path': 'file:///wh/data' },
};
const statistics = (id: number): object => ({
  'snapshot-id': id,
  'statistics-path': 'file:///wh/t/s',
  'file-size-in-bytes': 1,
});
const COMMIT = {
  requirements: [
    { type: 'assert-table-uuid', uuid: CREATION.uuid },
    { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': null },
    { type: 'assert-last-assigned-field-id', 'last-assigned-field-id': 9 },
    { type: 'assert-current-schema-id', 'current-schema-id': 0 },
    { type: 'assert-last-assigned-partition-id', 'last-assigned-partition-id': 1000 },
    { type: 'assert-default-spec-id', 'default-spec-id': 0 },
    { type: 'assert-default-sort-order-id', 'default-sort-order-id': 1 },
  ],
  updates: [
    { action: 'assign-uuid', uuid: CREATION.uuid },
    { action: 'upgrade-format-version', 'format-version': 3 },
    {
      action: 'add-schema',
      schema: {
        ...NESTED_SCHEMA,
        fields: [...NESTED_SCHEMA.fields, { id: 10, name: 'v', required: false, type: 'variant' }],
      },
    },
    { action: 'set-current-schema', 'schema-id': -1 },
    { action: 'add-spec', spec: { fields: [{ name: 'b', transform: 'truncate[3]', 'source-id': 1 }] } },
    { action: 'set-default-spec', 'spec-id': -1 },
    { action: 'add-sort-order', 'sort-order': { 'order-id': 2, fields: [] } },
    { action: 'set-default-sort-order', 'sort-order-id': -1 },
    {
      action: 'add-snapshot',
      snapshot: {
        'snapshot-id': 1,
        'sequence-number': 1,
        'timestamp-ms': 6,
        'manifest-list': 'file:///wh/t/l.avro',
        summary: { operation: 'append' },
        'schema-id': 0,
        'first-row-id': 0,
        'added-rows': 5,
      },
    },
    { action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch', 'snapshot-id': 1, 'max-ref-age-ms': 1 },
    { action: 'set-snapshot-ref', 'ref-name': 'v1', type: 'tag', 'snapshot-id': 1 },
    { action: 'set-statistics', statistics: statistics(1) },
    { action: 'set-partition-statistics', 'partition-statistics': statistics(1) },
    { action: 'remove-partition-statistics', 'snapshot-id': 1 },
    { action: 'set-location', location: 'file:///wh/u' },
    { action: 'set-properties', updates: { a: 'b' } },
    { action: 'remove-properties', removals: ['a'] },
    { action: 'add-encryption-key', 'encryption-key': { 'key-id': 'k', 'encrypted-key-metadata': 'AA==' } },
    { action: 'remove-encryption-key', 'key-id': 'k' },
    { action: 'remove-snapshot-ref', 'ref-name': 'v1' },
    { action: 'remove-schemas', 'schema-ids': [0] },
    { action: 'remove-partition-specs', 'spec-ids': [0] },
    { action: 'remove-snapshots', 'snapshot-ids': [5] },
  ],
};
/** Parses the value as the text of a request is parsed. */
const read = (value: object): Json => parseJson(JSON.stringify(value));

const ODD: readonly Json[] = [
  null,
  true,
  '',
  'main',
  '\u0000',
  '\uD800',
  '__proto__',
  'constructor',
  'file:///etc',
  'x'.repeat(3_000),
  0,
  -1,
  -2,
  1.5,
  2 ** 31,
  9_007_199_254_740_993n,
  2n ** 63n,
  -(2n ** 70n),
  1e308,
  [],
  [null],
  [[]],
  {},
  { type: 'struct' },
  { type: 'list' },
  JSON.parse('{"__proto__": 1, "type": "struct", "fields": []}') as Json,
];

/** The paths of all values in a document. */
function paths(json: Json, prefix: readonly string[] = []): (readonly string[])[] {
  if (typeof json !== 'object' || json === null) return [prefix];
  return [prefix, ...Object.entries(json).flatMap(([key, value]) => paths(value, [...prefix, key]))];
}
/** The document with another value at a path; undefined takes the member away. */
function replaced(json: Json, [key, ...rest]: readonly string[], value: Json | undefined): Json {
  if (key === undefined) return value ?? null;
  if (Array.isArray(json)) {
    const copy = [...(json as Json[])];
    const at = Number(key);
    if (rest.length === 0 && value === undefined) copy.splice(at, 1);
    else copy[at] = replaced(copy[at] ?? null, rest, value);
    return copy;
  }
  const object = json as JsonObject;
  const others = Object.entries(object).filter(([name]) => name !== key);
  if (rest.length === 0 && value === undefined) return Object.fromEntries(others);
  return Object.fromEntries([...others, [key, replaced(object[key] ?? null, rest, value)]]);
}
const damaged = (valid: Json): fc.Arbitrary<Json> => {
  const one = fc.tuple(fc.constantFrom(...paths(valid)), fc.constantFrom(undefined, ...ODD));
  return fc.array(one, { minLength: 1, maxLength: 3 }).map((damages) =>
    damages.reduce<Json>((json, [path, value]) => {
      try {
        return replaced(json, path, value);
      } catch {
        // An earlier change has removed this place.
        return json;
      }
    }, valid),
  );
};

function judged(work: () => string): void {
  let text: string;
  try {
    text = work();
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
    expect(['INVALID_REQUEST', 'COMMIT_CONFLICT']).toContain(error.code);
    return;
  }
  expect(metadataText(parseTableDocument(parseJson(text)))).toBe(text);
}
const RUNS = { numRuns: 1_000 };
const ROOTS = ['file:///wh'];
const base = newTableMetadata(parseCreateTable(read(CREATE)), CREATION);

test('the requests are valid before they are damaged', () => {
  const next = commitMetadata(base, parseCommit(read(COMMIT)), { nowMs: 9, metadataLocation: 'file:///wh/t/m.json' });
  expect(next).toMatchObject({
    'current-schema-id': 1,
    'default-spec-id': 1,
    'next-row-id': 5,
    location: 'file:///wh/u',
  });
});

test('damaged create requests', () => {
  fc.assert(
    fc.property(damaged(read(CREATE)), (body) =>
      judged(() => {
        const metadata = newTableMetadata(parseCreateTable(body), CREATION);
        checkLocations(metadata, undefined, ROOTS);
        ownFolders(metadata);
        return metadataText(metadata);
      }),
    ),
    RUNS,
  );
});

test('damaged commits', () => {
  fc.assert(
    fc.property(damaged(read(COMMIT)), (body) =>
      judged(() => {
        const request = parseCommit(body);
        const metadata = isCreate(request)
          ? metadataOfUpdates(request.updates, CREATION)
          : commitMetadata(base, request, { nowMs: 9, metadataLocation: 'file:///wh/t/m.json' });
        checkLocations(metadata, base, ROOTS);
        ownFolders(metadata);
        return metadataText(metadata);
      }),
    ),
    RUNS,
  );
});

test('damaged metadata files', () => {
  const next = commitMetadata(base, parseCommit(read(COMMIT)), { nowMs: 9, metadataLocation: 'file:///wh/t/m.json' });
  fc.assert(
    fc.property(damaged(parseJson(metadataText(next))), (json) =>
      judged(() => {
        const metadata = parseTableDocument(json);
        checkLocations(metadata, undefined, ROOTS);
        ownFolders(metadata);
        return metadataText(metadata);
      }),
    ),
    RUNS,
  );
});
