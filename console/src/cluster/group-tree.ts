/** A group and its place in the tree, which has any depth. */
type GroupLine<Group> = { readonly group: Group; readonly name: string; readonly depth: number };

/** Groups as the server lists them, each before those below it. */
export const groupTree = <Group extends { readonly path: string }>(
  groups: readonly Group[],
): readonly GroupLine<Group>[] =>
  groups.map((group) => {
    const names = group.path.split('.');
    return { group, name: decodeURIComponent(names.at(-1) ?? ''), depth: names.length - 1 };
  });
