import { expect, test } from 'vitest';
import { ERRORS } from './error.ts';

test('every error has an SQLSTATE of five characters, a syntax error one of class 42', () => {
  for (const [code, { sqlState }] of Object.entries(ERRORS)) expect(sqlState, code).toMatch(/^[0-9A-Z]{5}$/);
  expect(ERRORS.SYNTAX_ERROR.sqlState).toMatch(/^42/);
});
