import { expect, test } from 'vitest';
import { JSON_DEPTH_MAX } from '#shared/sql/bounded-functions.ts';
import { LevelWalk } from './json-levels.ts';

const deep = (levels: number, open = '[', close = ']'): string => open.repeat(levels) + '1' + close.repeat(levels);

/** The text in one piece, and in pieces of few bytes. */
const isDeep = (text: string, layout: 'lines' | 'array' | 'documents' = 'lines'): boolean => {
  const found = [text.length + 1, 7, 1].map((length) => {
    const walk = new LevelWalk({ layout });
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += length) if (!walk.take(bytes.subarray(at, at + length))) break;
    return walk.isDeep;
  });
  expect(new Set(found).size).toBe(1);
  return found[0] ?? false;
};

test.each([
  deep(JSON_DEPTH_MAX + 1),
  `{"a":1}\n${deep(JSON_DEPTH_MAX + 1, '{"a":', '}')}\n`,
  `"[\n${deep(JSON_DEPTH_MAX + 1)}`,
  `]]]}${deep(JSON_DEPTH_MAX + 1)}`,
  `["\\"", "${'x'.repeat(2_000)}", ${deep(JSON_DEPTH_MAX)}]`,
])('too many levels: %.40s', (text) => {
  expect(isDeep(text)).toBe(true);
});

test.each([
  deep(JSON_DEPTH_MAX),
  `{"a":"${'['.repeat(5_000)}"}\n`,
  `{"a":"\\"${'['.repeat(5_000)}"}`,
  '[\n'.repeat(5_000),
  `${'{"a":[1]}'.repeat(2_000)}\n`,
  '',
])('not so many: %.40s', (text) => {
  expect(isDeep(text)).toBe(false);
});

test('in other files than those of lines a document has many lines', () => {
  expect(isDeep('[\n'.repeat(JSON_DEPTH_MAX + 1), 'array')).toBe(true);
  expect(isDeep('[\n'.repeat(JSON_DEPTH_MAX + 1), 'documents')).toBe(true);
  expect(isDeep(`${deep(JSON_DEPTH_MAX)}\n`.repeat(3), 'documents')).toBe(false);
});

test.each([
  ['lines', '{}\n{}\n'],
  ['documents', '{"a":[1]} {}'],
  ['array', '[{"a":[1]}, {}, '],
] as const)('documents behind the last that is wanted are not read: %s', (layout, begin) => {
  const walk = new LevelWalk({ layout, documentsMax: 2 });
  expect(walk.take(Buffer.from(begin + deep(JSON_DEPTH_MAX + 1)))).toBe(false);
  expect(walk.isDeep).toBe(false);
});
