import { expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { withPlace } from './error-place.ts';

const SQL = 'SELECT 1,\n  nope\nFROM t';

test('a position is told as line and column, from 1', () => {
  const error = new SkeinError('COLUMN_NOT_FOUND', 'no such column', { position: SQL.indexOf('nope') });
  expect(withPlace(error, SQL).toData()).toEqual({
    code: 'COLUMN_NOT_FOUND',
    message: 'no such column (line 2, column 3)',
    position: 12,
  });
  expect(withPlace(new SkeinError('SYNTAX_ERROR', 'x', { position: 0 }), SQL).message).toBe('x (line 1, column 1)');
});

test('an error without a position, or with one outside of the text, stays as it is', () => {
  for (const position of [undefined, -1, SQL.length + 1]) {
    const error = new SkeinError('SYNTAX_ERROR', 'x', { position });
    expect(withPlace(error, SQL)).toBe(error);
  }
});
