import type { Relation } from './relation.ts';

/**
 * A part of a list. A list that changes has new blocks in the place of those that have changed, and the others as they were: what a reader
 * has made of a block stays right for as long as there is the block.
 */
export type RelationBlock = readonly Relation[];

const BLOCK = 500;

export function blocksOf(relations: readonly Relation[]): readonly RelationBlock[] {
  const blocks: RelationBlock[] = [];
  for (let at = 0; at < relations.length; at += BLOCK) blocks.push(relations.slice(at, at + BLOCK));
  return blocks;
}

/**
 * The blocks of a list of which some relations have changed.
 * @param changed ids of all that are new, changed or gone @param now those of them that are there
 */
export function changedBlocks(
  blocks: readonly RelationBlock[],
  changed: ReadonlySet<string>,
  now: readonly Relation[],
): readonly RelationBlock[] {
  const left = new Map(now.map((relation) => [relation.id, relation]));
  const next = blocks.map((block) => {
    if (!block.some(({ id }) => changed.has(id))) return block;
    return block.flatMap((relation) => {
      if (!changed.has(relation.id)) return [relation];
      const one = left.get(relation.id);
      left.delete(relation.id);
      return one === undefined ? [] : [one];
    });
  });
  const last = next.at(-1) ?? [];
  const isRoomy = last.length + left.size <= BLOCK;
  const kept = left.size > 0 && isRoomy ? next.slice(0, -1) : next;
  const added = left.size === 0 ? [] : blocksOf(isRoomy ? [...last, ...left.values()] : [...left.values()]);
  return [...kept, ...added].filter((block) => block.length > 0);
}
