import { expect, test } from 'vitest';
import type { JsonFormat } from '#shared/stage/file-format.ts';
import { memberNames } from './json-members.ts';

/** The names in a text of chunks of a few bytes, and the bytes that were read of it. */
async function namesIn(
  text: string,
  {
    layout = 'lines',
    wanted = [],
  }: { readonly layout?: JsonFormat['layout']; readonly wanted?: readonly string[] } = {},
): Promise<{ readonly names: readonly string[]; readonly read: number }> {
  let read = 0;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 3) {
      const chunk = bytes.subarray(at, at + 3);
      read += chunk.length;
      yield await Promise.resolve(chunk);
    }
  }
  const names = await memberNames(chunks(), { layout }, { wanted: new Set(wanted), namesMax: 4 });
  return { names, read };
}

test('the names of members of documents, and of no object or text within them', async () => {
  const members = String.raw`{"a": {"no": 1}, "": "\"no\": {", "b": [{"no": 1}, "no"] ,"A":null, "a" : 1}`;
  expect((await namesIn(`${members}\n{"a":2}\n`)).names).toEqual(['a', '', 'b', 'A']);
  expect((await namesIn(`[${members},\n${members}]`, { layout: 'array' })).names).toEqual(['a', '', 'b', 'A']);
  expect((await namesIn(members.replaceAll(',', ',\n'), { layout: 'documents' })).names).toEqual(['a', '', 'b', 'A']);
  expect((await namesIn(String.raw`{"\u00e9\"\\": 1, "ü": 2}`)).names).toEqual(['é"\\', 'ü']);
});

test('what is no object has no names, and a line that is broken ends with its line', async () => {
  for (const text of ['', '\n', '{}\n{}', 'null\n1\n"a"\n["a", {"b": 1}]\n']) {
    expect((await namesIn(text)).names, text).toEqual([]);
  }
  expect((await namesIn('{"a": "never ends\n}}]{"x": 1\n{"b": 1}\n')).names).toContain('b');
});

test('a text is read as far as the first wanted name, which is there beside the most names', async () => {
  const text = `{"a":1,"b":1,"c":1,"d":1,"e":1,"wanted":1}\n${'{"f":1}\n'.repeat(1_000)}`;
  const found = await namesIn(text, { wanted: ['wanted'] });
  expect(found.names).toEqual(['a', 'b', 'c', 'd', 'wanted']);
  expect(found.read).toBeLessThan(50);
  expect((await namesIn(text)).names).toEqual(['a', 'b', 'c', 'd']);
});
