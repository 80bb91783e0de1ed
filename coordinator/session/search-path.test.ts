import { expect, test } from 'vitest';
import { EMPTY_SESSION, atPlace, withValues } from './session.ts';
import { currentSchema, pathValues, printPath, readPath, shownPath } from './search-path.ts';

test('a path is a list of names, in quotes or without', () => {
  expect(readPath(' a, "B c" ,"d""e"')).toEqual(['a', 'B c', 'd"e']);
  expect(readPath('')).toEqual([]);
  expect(printPath(['a', 'B c', 'd"e'])).toBe('a, "B c", "d""e"');
  for (const wrong of ['a b', 'a,', ',a', '"a', `a${', a'.repeat(100)}`]) {
    expect(() => readPath(wrong)).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
  }
});

test('USE and a path replace each other, a local one comes first, and what the client began with comes last', () => {
  const begun = withValues(EMPTY_SESSION, 'initial', pathValues('first', ['first']));
  const used = atPlace(begun, { schema: ['used'] });
  const set = withValues(used, 'session', pathValues('none, s', ['s']));
  const local = withValues(set, 'local', pathValues('l', ['l']));
  const states = [EMPTY_SESSION, begun, used, set, local, atPlace(local, { schema: ['again'] })];
  expect(states.map((state) => [currentSchema(state), shownPath(state)])).toEqual([
    [null, undefined],
    [['first'], 'first'],
    [['used'], 'used'],
    [['s'], 'none, s'],
    [['l'], 'l'],
    [['again'], 'again'],
  ]);
  expect(currentSchema(withValues(used, 'session', pathValues('nowhere', null)))).toBeNull();
});
