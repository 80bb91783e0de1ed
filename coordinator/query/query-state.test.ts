import { expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { next, type QueryEvent, type QueryState } from './query-state.ts';

const queued: QueryState = { kind: 'queued', queuedAtMs: 1 };
const started: QueryEvent = { kind: 'started', atMs: 2 };
const completed: QueryEvent = { kind: 'completed', atMs: 3, rowsProduced: 4, bytesScanned: 5, fragments: 1 };
const failed = (code: 'QUERY_CANCELLED' | 'QUERY_TIMEOUT' | 'OUT_OF_MEMORY'): QueryEvent => ({
  kind: 'failed',
  atMs: 3,
  error: new SkeinError(code, 'why'),
});
const run = (...events: QueryEvent[]): QueryState => events.reduce(next, queued);

test('a query that ran to its end', () => {
  expect(run(started, completed)).toEqual({
    kind: 'completed',
    queuedAtMs: 1,
    startedAtMs: 2,
    endedAtMs: 3,
    rowsProduced: 4,
    bytesScanned: 5,
    fragments: 1,
  });
});

test('a statement that was refused or cancelled before it ran has no start', () => {
  expect(run(failed('OUT_OF_MEMORY'))).toMatchObject({ kind: 'failed', startedAtMs: null });
  expect(run(failed('QUERY_CANCELLED'))).toMatchObject({ kind: 'cancelled', startedAtMs: null });
});

test('a timeout is a cancel, an error is a failure, and what ended stays ended', () => {
  expect(run(started, failed('QUERY_TIMEOUT'))).toMatchObject({ kind: 'cancelled', startedAtMs: 2 });
  expect(run(started, failed('OUT_OF_MEMORY'), completed)).toMatchObject({ kind: 'failed' });
  expect(run(started, completed, failed('QUERY_CANCELLED'))).toMatchObject({ kind: 'completed' });
});
