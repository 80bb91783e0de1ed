import { expect, test } from 'vitest';
import { SkeinError, type ErrorCode } from '#shared/error.ts';
import { fencedError } from './fenced-error.ts';

const codeOf = (code: ErrorCode, lost: boolean, commits: boolean): ErrorCode =>
  fencedError(new SkeinError(code, 'why'), {
    lost: lost ? AbortSignal.abort() : new AbortController().signal,
    commits,
  }).code;

test.each<[code: ErrorCode, before: ErrorCode, while_: ErrorCode]>([
  ['INTERNAL_ERROR', 'NOT_ACTIVE', 'COMMIT_STATE_UNKNOWN'],
  ['STORAGE_ERROR', 'NOT_ACTIVE', 'COMMIT_STATE_UNKNOWN'],
  ['CATALOG_UNAVAILABLE', 'NOT_ACTIVE', 'COMMIT_STATE_UNKNOWN'],
  ['KEY_REUSED', 'NOT_ACTIVE', 'NOT_ACTIVE'],
  ['COMMIT_CONFLICT', 'NOT_ACTIVE', 'NOT_ACTIVE'],
  ['COMMIT_STATE_UNKNOWN', 'COMMIT_STATE_UNKNOWN', 'COMMIT_STATE_UNKNOWN'],
  ['NOT_ACTIVE', 'NOT_ACTIVE', 'NOT_ACTIVE'],
  ['DIVISION_BY_ZERO', 'DIVISION_BY_ZERO', 'DIVISION_BY_ZERO'],
  ['QUERY_CANCELLED', 'QUERY_CANCELLED', 'QUERY_CANCELLED'],
])('%s of a coordinator that has lost the lead is %s before the commit, and %s in it', (code, before, during) => {
  expect([codeOf(code, true, false), codeOf(code, true, true)]).toEqual([before, during]);
  expect([codeOf(code, false, false), codeOf(code, false, true)]).toEqual([code, code]);
});
