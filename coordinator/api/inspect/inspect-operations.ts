import { Type } from 'typebox';
import { FINDINGS } from '../../inspect/find-health.ts';
import { integer, orNull, record, text, TIME } from '../../profile/schema-parts.ts';
import { errors, json } from '../http/operation-parts.ts';

/** Snapshots of a page. */
const SNAPSHOTS_MAX = 1_000;
export const SNAPSHOTS_DEFAULT = 200;
const REF_LENGTH_MAX = 1_000;

const place = {
  catalog: Type.String({ description: 'Name of the catalog' }),
  namespace: Type.String({ description: 'Levels of the namespace, joined by %1F or by dots' }),
};
const params = Type.Object({ ...place, table: Type.String({ description: 'Name of the table' }) });
const MISSING = ['CATALOG_NOT_FOUND', 'SCHEMA_NOT_FOUND', 'TABLE_NOT_FOUND'] as const;
const READING = [
  'FORBIDDEN',
  'WRONG_OBJECT_TYPE',
  'INVALID_TABLE_DATA',
  'NOT_SUPPORTED',
  'TABLE_METADATA_MISSING',
] as const;
const FILES = ['STORAGE_ERROR', 'QUEUE_FULL', 'QUERY_TIMEOUT'] as const;

const flag = (description: string) => Type.Boolean({ description });
const HIDDEN = flag('A policy stands between the table and the caller: what tells of its rows is null, which is not 0');
const texts = (description: string) => Type.Record(Type.String(), Type.String(), { description });
const count = (description: string) =>
  orNull(Type.Integer(), `${description}; null: hidden by a policy, or not told by its writer`);
const sumParts = {
  files: integer('Files'),
  rows: integer('Rows, of delete files those that they delete'),
  bytes: integer('Bytes'),
};
const sum = (description: string) =>
  orNull(record(sumParts), `${description}; null: hidden by a policy, or too many to count`);
const manifests = (description: string) =>
  orNull(record({ manifests: integer('How many'), bytes: integer('Their bytes') }), `${description}; null as above`);
const values = Type.Array(Type.Union([Type.String(), Type.Null()]), {
  description: 'Its value of each field of partition_fields; null: none',
});
const WHOLE = flag('False: there are too many files to count, and what is told is what is known');
const partitionFields = Type.Array(Type.String(), { description: 'Names of the fields of all partition specs' });

export const TABLE_DETAILS = {
  operationId: 'tableDetails',
  summary: 'Everything about a table at a glance',
  description: 'Nothing of it is in the history.',
  params,
  response: {
    200: json(
      record({
        catalog: text('Catalog'),
        schema: text('Schema, levels joined by dots'),
        name: text('Name'),
        uuid: text('UUID of the table'),
        location: text('Its folder'),
        format_version: integer('Iceberg format version'),
        owner: orNull(Type.String(), 'Property `owner`'),
        comment: orNull(Type.String(), 'Property `comment`'),
        created_at: orNull(Type.String(), 'When it was made, as its writer says'),
        changed_at: orNull(TIME, 'Last change of its rows; null: there was none'),
        is_protected: flag('It cannot be dropped until `skein.protected` goes'),
        hidden_by_policy: HIDDEN,
        rows: count('Rows of the current snapshot'),
        bytes: count('Bytes of its files'),
        files: count('Data files'),
        delete_files: count('Delete files'),
        snapshots: integer('Snapshots that are kept'),
        current_snapshot_id: orNull(Type.String(), 'Id of the current snapshot, a decimal text'),
        schema_id: integer('Id of the current schema'),
        columns: Type.Array(
          record({
            id: integer('Field id'),
            parent_id: orNull(Type.Integer(), 'Field id of the column that it is a part of'),
            name: text('Name; `element`, `key` and `value` of lists and maps'),
            type: text('SQL type'),
            nullable: flag('It may be NULL'),
            is_key: flag('It is an identifier field'),
            default: orNull(Type.String(), 'Default of new rows'),
            initial_default: orNull(Type.String(), 'Value in rows of files that lack the column'),
            comment: orNull(Type.String(), 'Its comment'),
          }),
          { description: 'Columns, each with its parts behind it, 5,000 at most' },
        ),
        columns_total: integer('Columns with their parts'),
        partition: Type.Array(
          record({ name: text('Partition field'), column: text('Its column'), transform: text('bucket[16], month') }),
        ),
        partition_expressions: Type.Array(Type.String(), { description: 'The partition spec as SQL' }),
        sort: Type.Array(
          record({
            column: text('Column'),
            transform: text('identity, bucket[16]'),
            direction: Type.Unsafe<'asc' | 'desc'>({ type: 'string', enum: ['asc', 'desc'] }),
            nulls: Type.Unsafe<'first' | 'last'>({ type: 'string', enum: ['first', 'last'] }),
          }),
        ),
        properties: texts('Properties of the table'),
        actions: Type.Array(Type.String(), { description: 'Actions that the caller may do with the table' }),
      }),
      'The table',
    ),
    ...errors(READING, { missing: MISSING }),
  },
};

export const TABLE_SNAPSHOTS = {
  operationId: 'tableSnapshots',
  summary: 'The history of a table, the newest first',
  description: 'A snapshot comes before its parent, whatever the clocks of its writers said.',
  params,
  querystring: Type.Object({
    page_token: Type.Optional(
      Type.String({ maxLength: REF_LENGTH_MAX, description: '`next_page_token` of the page before' }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: SNAPSHOTS_MAX, default: SNAPSHOTS_DEFAULT, description: 'How many at most' }),
    ),
    fold: Type.Optional(
      Type.Unsafe<'true' | 'false'>({
        type: 'string',
        enum: ['true', 'false'],
        description: 'true: what only continues a line is left out, and counted',
      }),
    ),
  }),
  response: {
    200: json(
      record({
        snapshots: Type.Array(
          record({
            snapshot_id: text('Id, a decimal text'),
            parent_id: orNull(Type.String(), 'Id of the one that it was made of'),
            committed_at: TIME,
            operation: orNull(Type.String(), 'append, replace, overwrite or delete'),
            schema_id: orNull(Type.Integer(), 'Schema of its writer'),
            lane: integer('Column of the graph; 0: the line of the current snapshot'),
            folded: integer('Snapshots below it, on its line, that are left out'),
            is_current_ancestor: flag('The current snapshot, or one that it was made of'),
            added_rows: count('Rows of files that it added'),
            removed_rows: count('Rows of files that it removed'),
            added_files: count('Data files that it added'),
            removed_files: count('Data files that it removed'),
            added_bytes: count('Bytes of files that it added'),
            removed_bytes: count('Bytes of files that it removed'),
            total_rows: count('Rows of all of its files'),
            total_files: count('Data files'),
            total_bytes: count('Bytes of its files'),
            summary: texts('The rest of its summary, as its writer says; empty where a policy hides it'),
          }),
        ),
        refs: Type.Array(
          record({
            name: text('Name'),
            type: Type.Unsafe<'branch' | 'tag'>({ type: 'string', enum: ['branch', 'tag'] }),
            snapshot_id: text('Its snapshot'),
            max_ref_age_ms: orNull(Type.Integer(), 'How long it is kept'),
          }),
          { description: 'Branches and tags, 1,000 at most' },
        ),
        refs_total: integer('Branches and tags'),
        total: integer('Snapshots'),
        hidden_by_policy: HIDDEN,
        next_page_token: orNull(Type.String(), 'Asks for the next page; null: this is the last one'),
      }),
      'A page',
    ),
    ...errors([...READING, 'INVALID_REQUEST'], { missing: MISSING }),
  },
};

const snapshotRef = (description: string) => Type.String({ maxLength: REF_LENGTH_MAX, description });
const difference = (description: string) =>
  orNull(
    record({ before: orNull(Type.Integer(), 'Of from'), after: orNull(Type.Integer(), 'Of to') }),
    `${description}; null: hidden by a policy`,
  );

export const TABLE_CHANGES = {
  operationId: 'tableChanges',
  summary: 'How two snapshots of a table differ',
  params,
  querystring: Type.Object({
    from: snapshotRef('Branch, tag or id of a snapshot'),
    to: snapshotRef('Branch, tag or id of another'),
  }),
  response: {
    200: json(
      record({
        from: text('Id'),
        to: text('Id'),
        hidden_by_policy: HIDDEN,
        schema: Type.Array(
          record({
            change: text('added, dropped, renamed, retyped, made nullable, made required or comment'),
            column: text('Column, by its later name'),
            before: orNull(Type.String(), 'Name, type or comment before'),
            after: orNull(Type.String(), 'The same after'),
          }),
        ),
        rows: difference('Rows'),
        files: difference('Data files'),
        bytes: difference('Bytes of its files'),
        changes: orNull(
          record({
            added: record(sumParts),
            removed: record(sumParts),
            added_deletes: record(sumParts),
            removed_deletes: record(sumParts),
            partition_fields: partitionFields,
            partitions: Type.Array(record({ values, added: record(sumParts), removed: record(sumParts) }), {
              description: 'Those that changed most, 1,000 at most',
            }),
            other_partitions: integer('Changed partitions beside these'),
          }),
          'Files that only one of them has; null: hidden by a policy, the caller may not read the table, or too many files to compare',
        ),
      }),
      'The differences',
    ),
    ...errors([...READING, ...FILES, 'SNAPSHOT_NOT_FOUND', 'INVALID_REQUEST'], { missing: MISSING }),
  },
};

export const TABLE_FILES = {
  operationId: 'tableFiles',
  summary: 'Sums of the files of a snapshot, by partition and by size',
  params,
  querystring: Type.Object({
    ref: Type.Optional(snapshotRef('Branch, tag or id of a snapshot; without it the current one')),
  }),
  response: {
    200: json(
      record({
        snapshot_id: orNull(Type.String(), 'Id of the snapshot; null: the table has none'),
        hidden_by_policy: HIDDEN,
        is_whole: WHOLE,
        data: sum('Data files'),
        position_deletes: sum('Position delete files'),
        equality_deletes: sum('Equality delete files'),
        deletion_vectors: sum('Deletion vectors'),
        data_manifests: manifests('Manifests of data files'),
        delete_manifests: manifests('Manifests of delete files'),
        sizes: Type.Array(
          record({ below: orNull(Type.Integer(), 'Files are smaller than this; null: the rest'), ...sumParts }),
          { description: 'Data files by size; empty where they are hidden' },
        ),
        partition_fields: partitionFields,
        partitions: Type.Array(record({ values, ...sumParts, delete_files: integer('Delete files') }), {
          description: 'The largest partitions, 1,000 at most',
        }),
        other_partitions: orNull(record({ partitions: integer('How many'), ...sumParts }), 'The others, as one sum'),
      }),
      'The sums',
    ),
    ...errors([...READING, ...FILES, 'SNAPSHOT_NOT_FOUND', 'INVALID_REQUEST'], { missing: MISSING }),
  },
};

export const TABLE_HEALTH = {
  operationId: 'tableHealth',
  summary: 'What is wrong with a table, and the statement that mends it',
  params,
  response: {
    200: json(
      record({
        hidden_by_policy: HIDDEN,
        is_whole: WHOLE,
        findings: Type.Array(
          record({
            code: Type.Unsafe<(typeof FINDINGS)[number]>({ type: 'string', enum: [...FINDINGS] }),
            figures: Type.Record(Type.String(), Type.Number(), { description: 'What was counted' }),
            statement: text('The statement that mends it'),
          }),
        ),
      }),
      'The findings',
    ),
    ...errors([...READING, ...FILES, 'SNAPSHOT_NOT_FOUND', 'INVALID_REQUEST'], { missing: MISSING }),
  },
};

/** Dropped tables of a page. */
const DROPPED_MAX = 1_000;
export const DROPPED_DEFAULT = 100;

export const DROPPED_TABLES = {
  operationId: 'droppedTables',
  summary: 'The tables of a catalog that were dropped: what UNDROP TABLE can bring back',
  params: Type.Object({ catalog: Type.String({ description: 'Name of the catalog' }) }),
  querystring: Type.Object({
    after: Type.Optional(Type.String({ maxLength: 100, description: '`next` of the page before' })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: DROPPED_MAX, default: DROPPED_DEFAULT, description: 'How many at most' }),
    ),
  }),
  response: {
    200: json(
      record({
        tables: Type.Array(
          record({
            id: text('Id'),
            schema: text('Schema, levels joined by dots'),
            namespace: Type.Array(Type.String(), { description: 'Its levels' }),
            name: text('Name'),
            state: text('dropped: it can be had back; purging: its files are being deleted; purge-failed'),
            dropped_at: TIME,
            dropped_by: text('Who dropped it'),
            expires_at: TIME,
            purge: flag('Its files are deleted after that'),
            error: orNull(Type.String(), 'Why its files are not deleted yet'),
          }),
          { description: 'In the order in which they were made' },
        ),
        next: orNull(Type.String(), 'Asks for the next page; null: this is the last one'),
      }),
      'A page',
    ),
    ...errors(['FORBIDDEN', 'INVALID_REQUEST'], { missing: ['CATALOG_NOT_FOUND'] }),
  },
};

export const VIEW_VERSIONS = {
  operationId: 'viewVersions',
  summary: 'A view with its versions and their texts',
  params: Type.Object({ ...place, view: Type.String({ description: 'Name of the view' }) }),
  response: {
    200: json(
      record({
        catalog: text('Catalog'),
        schema: text('Schema, levels joined by dots'),
        name: text('Name'),
        is_materialized: flag('It has rows of its own'),
        owner: orNull(Type.String(), 'Property `owner`'),
        comment: orNull(Type.String(), 'Property `comment`'),
        version_id: integer('Id of the current version'),
        columns: Type.Array(
          record({ name: text('Column'), type: text('SQL type'), comment: orNull(Type.String(), 'Its comment') }),
        ),
        problem: orNull(Type.String(), 'Why its columns cannot be read'),
        versions: Type.Array(
          record({
            version_id: integer('Id'),
            created_at: TIME,
            dialect: text('Dialect of the text'),
            sql: text('The query'),
          }),
          { description: 'The newest first, 100 at most' },
        ),
        versions_total: integer('Versions that are kept'),
        properties: texts('Properties of the view'),
        actions: Type.Array(Type.String(), { description: 'Actions that the caller may do with the view' }),
      }),
      'The view',
    ),
    ...errors(READING, { missing: MISSING }),
  },
};
