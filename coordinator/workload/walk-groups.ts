import { Group } from './group.ts';
import type { PathStep } from './route.ts';
import { isTemplate, type Workload } from './workload.ts';

/** Makes the root and the groups of the file below it, but those of templates. */
export function rootOf({ root }: Workload): Group {
  const made = new Group(null, { spec: root.name, name: root.name }, root);
  const fill = (group: Group): void => {
    for (const { name } of group.spec.groups) {
      if (isTemplate(name)) continue;
      const child = group.child({ spec: name, name });
      if (child !== null) fill(child);
    }
  };
  fill(made);
  return made;
}

/** The steps from the root to a group. */
export const stepsOf = (group: Group): readonly PathStep[] => group.upward.toReversed().map(({ step }) => step);

/** The group at a path below `root`, or the nearest one above it that is there; groups of templates are made. */
export function groupAt(root: Group, path: readonly PathStep[]): Group {
  let group = root;
  for (const step of path.slice(1)) {
    const next = group.child(step);
    if (next === null) break;
    group = next;
  }
  return group;
}

/** A group and all below it, each before the groups below it. */
export function walk(group: Group): readonly Group[] {
  const found: Group[] = [];
  const visit = (one: Group): void => {
    found.push(one);
    for (const child of one.children) visit(child);
  };
  visit(group);
  return found;
}
