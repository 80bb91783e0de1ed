import { expect, test } from 'vitest';
import type { JsonFormat } from '#shared/stage/file-format.ts';
import { linesOfJsonDocuments } from './json-lines.ts';

async function* chunks(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 3) yield await Promise.resolve(bytes.subarray(at, at + 3));
}

test.each<[JsonFormat['layout'], string, readonly (number | null)[]]>([
  ['lines', '{"a": 1}\n\n  \n{"a": "x\\n{"}\r\nnot JSON', [1, 4, 5, null]],
  ['array', '[\n{"a": ["]", "\\"{"]},\n\n{"b": {"c": 1}}\n, {}]', [2, 4, 5, null]],
  ['documents', '{"a":\n1} {"b": [{}]}\n{"c": 3}', [1, 2, 3, null]],
])('the lines of the documents of %s', async (layout, text, lines) => {
  const places = lines.map((_, i) => i + 1);
  const found = await linesOfJsonDocuments(chunks(text), { layout }, places);
  expect(places.map((place) => found.get(place) ?? null)).toEqual(lines);
  for (const place of places) {
    const one = await linesOfJsonDocuments(chunks(text), { layout }, [place]);
    expect(one.get(place) ?? null).toEqual(lines[place - 1]);
  }
});
