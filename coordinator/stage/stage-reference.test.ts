import { expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { parseStageReference, printStage } from './stage-reference.ts';

test.each([
  ['@s', ['s'], ''],
  ['@s/', ['s'], ''],
  ['@a.b/c/d.csv', ['a', 'b'], 'c/d.csv'],
  ['@"a/b"."c""d"/e f/', ['a/b', 'c"d'], 'e f'],
  ['@lake.ns.s/x', ['lake', 'ns', 's'], 'x'],
  ['@~', null, ''],
  ['@~/a/b', null, 'a/b'],
])('%s is a stage and a path', (text, name, path) => {
  expect(parseStageReference(text, 7)).toEqual({ name, path, position: 7 });
});

test.each(['s', '@', '@/x', '@a..b', '@a.b.c.d', '@1', '@s x', '@~x', '@s//x', '@"s', '@""', '@s?x'])(
  '%s is none',
  (text) => {
    expect(() => parseStageReference(text, 7)).toThrow(expect.objectContaining({ code: 'SYNTAX_ERROR', position: 7 }));
  },
);

test.each(['@s/../x', '@s/.uploads', '@s/a//b', '@s/a\\b', `@s/${'x'.repeat(2_000)}`])(
  '%s has a path that no file has',
  (text) => {
    expect(() => parseStageReference(text, 7)).toThrow(SkeinError);
    expect(() => parseStageReference(text, 7)).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST', position: 7 }),
    );
  },
);

test('a reference is printed as it is written', () => {
  expect([printStage({ name: null }), printStage({ name: ['a', 'b'] })]).toEqual(['@~', '@a.b']);
});
