import fc from 'fast-check';
import { expect, test } from 'vitest';
import { blocksOf, changedBlocks } from './relation-blocks.ts';
import type { Relation } from './relation.ts';

const relation = (id: string, name: string): Relation => ({ id, name }) as Relation;
const many = (count: number): Relation[] => Array.from({ length: count }, (_, i) => relation(String(i), 'first'));
const namesOf = (blocks: readonly (readonly Relation[])[]): Map<string, string> =>
  new Map(blocks.flat().map(({ id, name }) => [id, name]));

test('blocks without a change stay the same objects', () => {
  const blocks = blocksOf(many(1_200));
  expect(blocks.map(({ length }) => length)).toEqual([500, 500, 200]);
  const next = changedBlocks(blocks, new Set(['501', '502']), [relation('501', 'now')]);
  expect(next[0]).toBe(blocks[0]);
  expect(next[1]).toHaveLength(499);
  expect(next[2]).toBe(blocks[2]);
});

test('a relation that is new joins the last block while that has room', () => {
  const next = changedBlocks(blocksOf(many(500)), new Set(['a']), [relation('a', 'now')]);
  expect(next.map(({ length }) => length)).toEqual([500, 1]);
  const more = changedBlocks(next, new Set(['b']), [relation('b', 'now')]);
  expect(more.map(({ length }) => length)).toEqual([500, 2]);
  expect(changedBlocks(more, new Set(['a', 'b']), []).map(({ length }) => length)).toEqual([500]);
});

test('any changes give the list that has them, every relation once', () => {
  const change = fc.record({ ids: fc.uniqueArray(fc.nat({ max: 700 }), { maxLength: 600 }), gone: fc.nat({ max: 3 }) });
  fc.assert(
    fc.property(fc.nat({ max: 600 }), fc.array(change, { maxLength: 4 }), (count, changes) => {
      let blocks = blocksOf(many(count));
      const expected = namesOf(blocks);
      for (const [round, { ids, gone }] of changes.entries()) {
        const changed = new Set(ids.map(String));
        const now = [...changed].filter((_, i) => i % 4 >= gone).map((id) => relation(id, `round ${round}`));
        blocks = changedBlocks(blocks, changed, now);
        for (const id of changed) expected.delete(id);
        for (const { id, name } of now) expected.set(id, name);
      }
      expect(namesOf(blocks)).toEqual(expected);
      expect(blocks.flat()).toHaveLength(expected.size);
      expect(blocks.every(({ length }) => length > 0 && length <= 500)).toBe(true);
    }),
    { numRuns: 100 },
  );
});
