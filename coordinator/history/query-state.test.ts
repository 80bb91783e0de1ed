import { expect, test } from 'vitest';
import { SkeinError, type ErrorCode } from '#shared/error.ts';
import { next, type QueryEvent, type QueryState } from './query-state.ts';

const queued: QueryState = { kind: 'queued', queuedAtMs: 1 };
const started: QueryEvent = { kind: 'started', atMs: 2 };
const completed: QueryEvent = { kind: 'completed', atMs: 3, rowsProduced: 4, bytesScanned: 5, fragments: 1 };
const failed = (code: ErrorCode): QueryEvent => ({
  kind: 'failed',
  atMs: 3,
  error: new SkeinError(code, 'why'),
  rowsProduced: 6,
  bytesScanned: 7,
  fragments: 2,
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
  expect(run(failed('SYNTAX_ERROR'))).toMatchObject({ kind: 'failed', startedAtMs: null });
  expect(run(failed('QUERY_CANCELLED'))).toMatchObject({ kind: 'cancelled', startedAtMs: null });
});

test.each<[ErrorCode, 'failed' | 'cancelled']>([
  ['QUERY_CANCELLED', 'cancelled'],
  ['QUERY_TIMEOUT', 'cancelled'],
  ['OUT_OF_MEMORY', 'cancelled'],
  ['SPILL_LIMIT', 'cancelled'],
  ['MEMORY_KILLED', 'cancelled'],
  ['RESULT_TOO_LARGE', 'cancelled'],
  ['QUERY_KILLED', 'cancelled'],
  ['MEMORY_EXHAUSTED', 'failed'],
  ['QUEUE_FULL', 'failed'],
  ['SYNTAX_ERROR', 'failed'],
  ['WORKER_LOST', 'failed'],
  ['DIVISION_BY_ZERO', 'failed'],
])('%s: the query is %s', (code, kind) => {
  expect(run(started, failed(code))).toMatchObject({
    kind,
    startedAtMs: 2,
    error: { code },
    rowsProduced: 6,
    bytesScanned: 7,
    fragments: 2,
  });
});

test('a final state does not change', () => {
  expect(run(started, failed('DIVISION_BY_ZERO'), completed)).toMatchObject({ kind: 'failed' });
  expect(run(started, completed, failed('QUERY_CANCELLED'))).toMatchObject({ kind: 'completed' });
});
