import { beforeEach, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import type { SnapshotChange } from '#shared/iceberg/write/snapshot-change.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import type { PlannedRows } from '../operation/planned-rows.ts';
import type { WriteTarget } from '../operation/writes.ts';
import { RunningWrite } from './running-write.ts';
import type { TableCommit } from './table-commit.ts';
import type { WriteParts } from './write-services.ts';

const FIELD = { id: 1, name: 'i', required: true, type: { kind: 'int' } } as const;
const target = {
  name: { catalog: 'c', namespace: ['s'], table: 't' },
  shape: 'keep',
  base: { location: 'file:///w/t', properties: {}, tableUuid: 'u' },
  schema: { schemaId: 0, fields: [FIELD], identifierFieldIds: [] },
  spec: { specId: 0, fields: [] },
  allowedRoots: ['file:///w'],
  credential: FILE_CREDENTIAL,
} as unknown as WriteTarget;
const APPEND = { operation: 'append' } as SnapshotChange;
const into = { assignments: [{ field: FIELD, source: 0 }] };

/** The steps, in the order in which they were taken. */
let happened: string[];
let commitError: SkeinError | undefined;
beforeEach(() => {
  happened = [];
  commitError = undefined;
});

const open = {
  intent: { writeId: 'w', places: { data: 'file:///w/t/data/w' } },
  names: (files: readonly string[]) => {
    happened.push(`names ${files.length}`);
    return Promise.resolve();
  },
  committed: () => happened.push('committed'),
  discard: () => {
    happened.push('discard');
    return Promise.resolve();
  },
  settle: () => {
    happened.push('settle');
    return Promise.resolve('COMMITTED');
  },
};
const parts = {
  config: {},
  statement: { recordId: 'r', mayHaveRetried: true, endLater: () => undefined, settled: () => undefined },
  journal: {
    begin: () => {
      happened.push('intent');
      return Promise.resolve(open);
    },
  },
  commits: {
    run: (_table: string, commit: TableCommit) => {
      happened.push('commit');
      if (commitError !== undefined) return Promise.reject(commitError);
      commit.made = { snapshotId: 1n, sequenceNumber: 1n } as NonNullable<TableCommit['made']>;
      return Promise.resolve();
    },
  },
  context: { caller: { claims: {} }, catalog: { tablesFor: () => ({}) }, files: { manifests: () => ({}) } },
} as unknown as WriteParts;

const rows = (error?: (sql: string) => Error): PlannedRows => ({
  columns: [{ name: 'i', type: { kind: 'scalar', name: 'INTEGER' } }],
  isOrdered: false,
  into: ({ sql, sink }) => {
    happened.push(`files in ${sink.folder}`);
    if (error !== undefined) return Promise.reject(error(JSON.stringify(sql(['SELECT 1']))));
    return Promise.resolve({ files: [], bytesScanned: 0, fragments: 1 });
  },
});

test('the intent is there before the first file, the names before the commit, and nothing is deleted after it', async () => {
  {
    await using write = await RunningWrite.begin(parts, target);
    await write.run(rows(), into);
    await write.end(APPEND, { files: [], others: ['file:///w/t/data/w/d.puffin'] });
  }
  expect(happened).toEqual(['intent', 'files in file:///w/t/data/w', 'names 1', 'commit', 'committed']);
});

test('a write that changes nothing has no commit, and keeps no file', async () => {
  {
    await using write = await RunningWrite.begin(parts, target);
    await write.run(rows(), into);
    await write.end(null, { files: [] });
  }
  expect(happened.slice(2)).toEqual(['names 0', 'committed']);
});

test('a write that is left by an error deletes its files', async () => {
  const work = async (): Promise<void> => {
    await using write = await RunningWrite.begin(parts, target);
    await write.run(
      rows(() => new SkeinError('OUT_OF_MEMORY', 'too much')),
      into,
    );
    await write.end(APPEND, { files: [] });
  };
  await expect(work()).rejects.toMatchObject({ code: 'OUT_OF_MEMORY' });
  expect(happened.slice(2)).toEqual(['discard']);
});

test('a refused commit deletes the files; one of unknown outcome is settled, and deletes none', async () => {
  const work = async (): Promise<void> => {
    await using write = await RunningWrite.begin(parts, target);
    await write.end(APPEND, { files: [] });
  };
  commitError = new SkeinError('COMMIT_CONFLICT', 'another came first');
  await expect(work()).rejects.toBe(commitError);
  expect(happened.slice(1)).toEqual(['names 0', 'commit', 'discard']);
  happened = [];
  commitError = new SkeinError('COMMIT_STATE_UNKNOWN', 'no answer');
  await expect(work()).rejects.toBe(commitError);
  expect(happened.slice(1)).toEqual(['names 0', 'commit', 'settle']);
});

test('a missing value names its column', async () => {
  await using write = await RunningWrite.begin(parts, target);
  const error = (sql: string): Error => new SkeinError('INVALID_ARGUMENT', /error\('([^']*)'\)/.exec(sql)?.[1] ?? '');
  await expect(write.run(rows(error), into)).rejects.toMatchObject({
    code: 'NOT_NULL_VIOLATION',
    message: 'column i is NOT NULL, and a row has no value for it',
  });
});
