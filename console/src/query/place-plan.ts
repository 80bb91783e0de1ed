import type { PlanNode } from '#coordinator/profile/profile-types.ts';

/** An operator of a profile, or of EXPLAIN, which knows no stages. */
export type ShownNode = Omit<PlanNode, 'stage' | 'children'> & {
  readonly stage?: number | null;
  readonly children: readonly ShownNode[];
};

/** An operator that is drawn. */
export type PlacedNode = {
  /** Its place: 0.1.0 is the first input of the second input of the root. */
  readonly id: string;
  readonly parent: string | null;
  readonly node: ShownNode;
  /** Operators that are folded into it. */
  readonly folded: number;
};

const sizeOf = ({ children }: ShownNode): number => children.reduce((sum, child) => sum + 1 + sizeOf(child), 0);

/** The operators that are drawn: none below one that is folded. */
export function placePlan(plan: ShownNode, folded: ReadonlySet<string>): readonly PlacedNode[] {
  const placed: PlacedNode[] = [];
  const place = (node: ShownNode, id: string, parent: string | null): void => {
    const isFolded = folded.has(id);
    placed.push({ id, parent, node, folded: isFolded ? sizeOf(node) : 0 });
    if (!isFolded) node.children.forEach((child, at) => place(child, `${id}.${at}`, id));
  };
  place(plan, '0', null);
  return placed;
}

/** The plan in the answer of EXPLAIN (FORMAT JSON); null for one without a plan. */
export function planOfExplain(text: string): { readonly plan: ShownNode; readonly about: string } | null {
  try {
    const { plan, workload_class: workClass, class_reasons: reasons } = JSON.parse(text) as Explained;
    if (plan === undefined || plan === null || !Array.isArray(plan.children)) return null;
    return { plan, about: workClass === undefined ? '' : `Class ${workClass}: ${(reasons ?? []).join(', ')}` };
  } catch {
    return null;
  }
}

type Explained = {
  readonly plan?: ShownNode | null;
  readonly workload_class?: string;
  readonly class_reasons?: readonly string[];
};
