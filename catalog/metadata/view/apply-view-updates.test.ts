import { describe, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { commitViewMetadata, newViewMetadata } from './apply-view-updates.ts';
import { parseViewMetadata, type ViewMetadata } from './view-metadata.ts';
import { parseCreateView, parseViewCommit } from './view-request.ts';

const CREATED = { uuid: 'b1b2b3b4-0000-4000-8000-000000000001', location: 'file:///w/v', nowMs: 1_000 };
const schema = (...names: readonly string[]): JsonObject => ({
  type: 'struct',
  fields: names.map((name, i) => ({ id: i + 1, name, required: false, type: 'long' })),
});
const sql = (text: string, dialect = 'spark'): JsonObject => ({ type: 'sql', sql: text, dialect });
const version = (queries: readonly Json[], more: JsonObject = {}): JsonObject => ({
  'version-id': 1,
  'timestamp-ms': 500,
  'schema-id': 0,
  summary: { engine: 'test' },
  'default-namespace': ['ns'],
  representations: queries,
  ...more,
});
const created = (properties: JsonObject = {}): ViewMetadata =>
  newViewMetadata(
    parseCreateView({ name: 'v', schema: schema('a'), 'view-version': version([sql('select 1')]), properties }),
    CREATED,
  );
const commit = (base: ViewMetadata, ...updates: readonly Json[]): ViewMetadata =>
  commitViewMetadata(base, parseViewCommit({ updates }), 9_000);
const replaced = (base: ViewMetadata, query: JsonObject, more: JsonObject = {}): ViewMetadata =>
  commit(
    base,
    { action: 'add-view-version', 'view-version': version([query], { 'version-id': 2, 'timestamp-ms': 700, ...more }) },
    { action: 'set-current-view-version', 'view-version-id': -1 },
  );
const refusal = (work: () => unknown): [string, string] => {
  try {
    work();
  } catch (error) {
    if (error instanceof SkeinError) return [error.code, error.message];
    throw error;
  }
  throw new Error('nothing was refused');
};

describe('a new view', () => {
  test('has version 1, its schema under id 0, and one line of history', () => {
    const view = created({ p: '1' });
    expect(view).toEqual({
      'view-uuid': CREATED.uuid,
      'format-version': 1,
      location: 'file:///w/v',
      properties: { p: '1' },
      schemas: [{ type: 'struct', 'schema-id': 0, fields: schema('a')['fields'] }],
      'current-version-id': 1,
      versions: [version([sql('select 1')])],
      'version-log': [{ 'timestamp-ms': 500, 'version-id': 1 }],
    });
    expect(parseViewMetadata(view as unknown as Json)).toEqual(view);
  });

  test('with two queries of one dialect, or none, is refused', () => {
    const create = (queries: readonly Json[]) => () =>
      newViewMetadata(
        parseCreateView({ name: 'v', schema: schema('a'), 'view-version': version(queries), properties: {} }),
        CREATED,
      );
    expect(refusal(create([sql('select 1', 'trino'), sql('select 2', 'TRINO')]))).toEqual([
      'INVALID_VIEW',
      'Invalid view version: Cannot add multiple queries for dialect trino',
    ]);
    expect(refusal(create([]))[0]).toBe('INVALID_VIEW');
    expect(refusal(create([{ type: 'logo', turtle: 1 }]))[0]).toBe('INVALID_REQUEST');
  });
});

describe('a commit', () => {
  test('adds a version under the next free id, whatever id the client thought of', () => {
    const one = replaced(created(), sql('select 2'));
    const two = replaced(one, sql('select 3'));
    expect(two['current-version-id']).toBe(3);
    expect(two.versions.map((v) => v['version-id'])).toEqual([1, 2, 3]);
    expect(two['version-log'].map((entry) => entry['version-id'])).toEqual([1, 2, 3]);
  });

  test('uses an identical schema and version again', () => {
    const base = created();
    const same = commit(
      base,
      { action: 'add-schema', schema: schema('a') },
      { action: 'add-view-version', 'view-version': version([sql('select 1')], { 'schema-id': -1, 'version-id': 7 }) },
      { action: 'set-current-view-version', 'view-version-id': -1 },
    );
    expect(same).toBe(base);
    const commented = commit(base, { action: 'set-properties', updates: { comment: 'x' } });
    expect(commit(commented, { action: 'set-properties', updates: { comment: 'x' } })).toBe(commented);
    expect(commit(commented, { action: 'remove-properties', removals: ['none'] })).toBe(commented);
    const other = commit(
      base,
      { action: 'add-schema', schema: schema('a', 'b') },
      { action: 'add-view-version', 'view-version': version([sql('select 1, 2')], { 'schema-id': -1 }) },
      { action: 'set-current-view-version', 'view-version-id': 2 },
    );
    expect(other.schemas.map((s) => s['schema-id'])).toEqual([0, 1]);
    expect(other.versions.at(-1)?.['schema-id']).toBe(1);
  });

  test('sets and removes properties, moves the location, and goes back to an old version', () => {
    const base = replaced(created({ keep: '1', drop: '2' }), sql('select 2'));
    const view = commit(
      base,
      { action: 'set-properties', updates: { more: '3' } },
      { action: 'remove-properties', removals: ['drop', 'absent'] },
      { action: 'set-location', location: 'file:///w/elsewhere' },
      { action: 'assign-uuid', uuid: CREATED.uuid },
      { action: 'upgrade-format-version', 'format-version': 1 },
      { action: 'set-current-view-version', 'view-version-id': 1 },
    );
    expect(view).toMatchObject({ properties: { keep: '1', more: '3' }, location: 'file:///w/elsewhere' });
    expect(view['version-log'].at(-1)).toEqual({ 'timestamp-ms': 9_000, 'version-id': 1 });
  });

  test('keeps version.history.num-entries versions, and no history before a gap', () => {
    let view = created({ 'version.history.num-entries': '2' });
    for (const n of [2, 3, 4]) view = replaced(view, sql(`select ${n}`));
    expect(view.versions.map((v) => v['version-id'])).toEqual([3, 4]);
    expect(view['version-log'].map((entry) => entry['version-id'])).toEqual([3, 4]);
    const back = commit(view, { action: 'set-current-view-version', 'view-version-id': 3 });
    expect(replaced(back, sql('select 5')).versions.map((v) => v['version-id'])).toEqual([4, 5]);
    expect(refusal(() => created({ 'version.history.num-entries': '0' }))[1]).toBe(
      'version.history.num-entries must be positive but was 0',
    );
  });

  test('loses no dialect unless replace.drop-dialect.allowed', () => {
    expect(refusal(() => replaced(created(), sql('select 2', 'trino')))).toEqual([
      'INVALID_VIEW',
      'Cannot replace view due to loss of view dialects (replace.drop-dialect.allowed=false):\n' +
        'Previous dialects: [spark]\nNew dialects: [trino]',
    ]);
    const allowed = created({ 'replace.drop-dialect.allowed': 'true' });
    expect(replaced(allowed, sql('select 2', 'trino'))['current-version-id']).toBe(2);
  });

  test.each<[Json, string]>([
    [{ action: 'assign-uuid', uuid: 'other' }, 'Cannot reassign uuid'],
    [{ action: 'upgrade-format-version', 'format-version': 0 }, 'Cannot downgrade v1 view to v0'],
    [{ action: 'upgrade-format-version', 'format-version': 2 }, 'Unsupported format version: 2'],
    [
      { action: 'set-current-view-version', 'view-version-id': -1 },
      'Cannot set last version id: no current version id has been set',
    ],
    [{ action: 'set-current-view-version', 'view-version-id': 5 }, 'Cannot set current version to unknown version: 5'],
    [
      { action: 'add-view-version', 'view-version': version([sql('x')], { 'schema-id': -1 }) },
      'Cannot set last added schema: no schema has been added',
    ],
    [
      { action: 'add-view-version', 'view-version': version([sql('x')], { 'schema-id': 3 }) },
      'Cannot add version with unknown schema: 3',
    ],
  ])('%j is refused', (update, message) => {
    expect(refusal(() => commit(created(), update))).toEqual(['INVALID_VIEW', message]);
  });

  test('of another view is a conflict; unknown updates and requirements are bad requests', () => {
    const uuid = '00000000-0000-4000-8000-000000000000';
    const stale = parseViewCommit({ requirements: [{ type: 'assert-view-uuid', uuid }], updates: [] });
    expect(refusal(() => commitViewMetadata(created(), stale, 1))[0]).toBe('COMMIT_CONFLICT');
    expect(refusal(() => parseViewCommit({ requirements: [{ type: 'assert-create' }], updates: [] }))).toEqual([
      'INVALID_REQUEST',
      'Unsupported requirement: assert-create',
    ]);
    expect(refusal(() => parseViewCommit({ updates: [{ action: 'add-snapshot' }] }))[0]).toBe('INVALID_REQUEST');
  });
});
