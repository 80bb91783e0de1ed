import { expect, test } from 'vitest';
import { groupTree } from './group-tree.ts';

test('groups are a tree of any depth, by their paths', () => {
  const paths = ['root', 'root.etl', 'root.etl.a', 'root.etl.a.b', 'root.web', 'root.web.x%2Ey'];
  expect(groupTree(paths.map((path) => ({ path }))).map(({ name, depth }) => `${'  '.repeat(depth)}${name}`)).toEqual([
    'root',
    '  etl',
    '    a',
    '      b',
    '  web',
    '    x.y',
  ]);
});
