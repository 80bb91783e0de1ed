import { expect, test } from 'vitest';
import { ERRORS, SkeinError } from './error.ts';

test('every error has an SQLSTATE of five characters, a syntax error one of class 42', () => {
  for (const [code, { sqlState }] of Object.entries(ERRORS)) expect(sqlState, code).toMatch(/^[0-9A-Z]{5}$/);
  expect(ERRORS.SYNTAX_ERROR.sqlState).toMatch(/^42/);
});

test('an error at another place keeps all that is known of its query', () => {
  const cause = new Error('below');
  const error = new SkeinError('INVALID_CAST', 'no', { position: 3, lostTask: 't', bytesScanned: 7, cause });
  expect(error.at(5).toData()).toEqual({ ...error.toData(), position: 5 });
  expect(error.at(undefined, 'never').toData()).toEqual({
    code: 'INVALID_CAST',
    message: 'never',
    lostTask: 't',
    bytesScanned: 7,
  });
  expect(error.at(5).cause).toBe(cause);
});
