import { describe, expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import { commitMetadata, parseCommit } from './commit-metadata.ts';
import { metadataOfUpdates, newTableMetadata, parseCreateTable } from './new-table.ts';
import type { TableDocument } from './table-document.ts';
import { parseUpdates } from './update.ts';

const CREATION = {
  uuid: '6f1c1e0e-2f1a-4a54-a0e6-6c7a2e1f0a01',
  location: 'file:///wh/ns/t',
  nowMs: 1_800_000_000_000,
  owner: 'ada',
};
const SCHEMA = { type: 'struct', fields: [{ id: 1, name: 'id', required: true, type: 'long' }] };
const TIME = '2024-01-31T12:00:00Z';

const create = (properties: object): TableDocument =>
  newTableMetadata(parseCreateTable({ name: 't', schema: SCHEMA, properties } as unknown as Json), CREATION);
const set = (updates: object): Json => ({ action: 'set-properties', updates }) as unknown as Json;
const commit = (base: TableDocument, updates: object): TableDocument =>
  commitMetadata(base, parseCommit({ updates: [set(updates)], requirements: [] }), {
    nowMs: base['last-updated-ms'] + 1,
    metadataLocation: `${CREATION.location}/metadata/0.json`,
  });

describe('a created-at that is no RFC 3339 time', () => {
  test.each([
    ['created-at', 'yesterday'],
    ['created-at', '2024-02-30T00:00:00Z'],
    ['created-at', '2024-01-31 12:00:00Z'],
    ['created_at', '1700000000'],
    ['created_at', ''],
  ])('%s = %j is refused, in a new table and later', (name, time) => {
    const message = `Invalid ${name}: ${JSON.stringify(time)} is no RFC 3339 time such as ${TIME}`;
    const refusal = expect.objectContaining({ code: 'INVALID_REQUEST', message }) as unknown;
    expect(() => create({ [name]: time })).toThrow(refusal);
    expect(() => create({ 'created-at': TIME, created_at: TIME, [name]: time })).toThrow(refusal);
    expect(() => commit(create({}), { [name]: time })).toThrow(refusal);
    expect(() => metadataOfUpdates(parseUpdates([set({ [name]: time })]), CREATION)).toThrow(refusal);
  });

  test('stays where a table has it', () => {
    const base = create({});
    const old = { ...base, properties: { ...base.properties, 'created-at': 'once' } };
    expect(commit(old, { 'created-at': 'once', k: 'v' }).properties).toMatchObject({ 'created-at': 'once', k: 'v' });
    expect(() => commit(old, { 'created-at': 'twice' })).toThrow('is no RFC 3339 time');
  });
});

test('a time with an offset or a fraction, or without an offset, is kept as it is given', () => {
  // Iceberg's compatibility kit leaves the offset out, which means UTC.
  for (const time of ['1985-04-12T23:20:50.52-08:00', '2022-02-25T00:38:19', TIME]) {
    expect(create({ 'created-at': time }).properties).toMatchObject({ 'created-at': time, created_at: time });
  }
});
