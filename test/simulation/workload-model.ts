import type { GroupSpec } from '#coordinator/workload/workload.ts';

/**
 * A second, slow statement of the rules of admission, for traces that both sides are meant to decide alike. It follows what is known of
 * Trino's InternalResourceGroup: queries wait in leaves only; a query runs if every group on its path can run more, else waits if every
 * one can queue more, else it is refused; a group with more memory than its soft limit runs no more; a freed place goes down from the root,
 * in `fair` groups to the child that has waited longest for its turn, in `weighted` ones (Trino's `weighted_fair`) to that with the lowest
 * running / weight, of equal ones to the longest waiter, and by priority to the child with the first query. It knows no soft concurrency
 * and no CPU time, where ours are different on purpose.
 */
export class ModelGroup {
  readonly spec: GroupSpec;
  readonly parent: ModelGroup | null;
  readonly children: readonly ModelGroup[];
  readonly waiting: { readonly id: string; readonly priority: number; readonly at: number }[] = [];
  /** Queries that run, with the memory that each holds. */
  readonly running = new Map<string, number>();
  /** Children that can start a query, in the order of their turns. */
  turns: ModelGroup[] = [];

  constructor(spec: GroupSpec, parent: ModelGroup | null = null) {
    this.spec = spec;
    this.parent = parent;
    this.children = spec.groups.map((one) => new ModelGroup(one, this));
  }

  get runningCount(): number {
    return this.children.reduce((sum, one) => sum + one.runningCount, this.running.size);
  }

  get memoryBytes(): number {
    const own = [...this.running.values()].reduce((sum, bytes) => sum + bytes, 0);
    return this.children.reduce((sum, one) => sum + one.memoryBytes, own);
  }

  get canRunMore(): boolean {
    const { hardConcurrencyLimit, softMemoryLimitBytes } = this.spec;
    return this.runningCount < hardConcurrencyLimit && this.memoryBytes <= (softMemoryLimitBytes ?? Infinity);
  }

  get queuedCount(): number {
    return this.children.reduce((sum, one) => sum + one.queuedCount, this.waiting.length);
  }

  get leaves(): readonly ModelGroup[] {
    return this.children.length === 0 ? [this] : this.children.flatMap((one) => one.leaves);
  }

  get canStart(): boolean {
    const hasQuery = this.waiting.length > 0 || this.children.some((one) => one.canStart);
    return hasQuery && this.canRunMore;
  }

  get path(): readonly ModelGroup[] {
    return [...(this.parent?.path ?? []), this];
  }

  get isByPriority(): boolean {
    return this.path.some(({ spec }) => spec.schedulingPolicy === 'query_priority');
  }
}

export class Model {
  readonly root: ModelGroup;
  readonly #queryBytes: number;
  #at = 0;

  /** `queryBytes`: memory with which a query starts. */
  constructor(root: GroupSpec, queryBytes: number) {
    this.root = new ModelGroup(root);
    this.#queryBytes = queryBytes;
  }

  submit(leaf: ModelGroup, id: string, priority: number): 'runs' | 'waits' | 'refused' {
    const { path } = leaf;
    const canRun = path.every((one) => one.canRunMore);
    const canQueue = path.every((one) => one.queuedCount < one.spec.maxQueuedQueries);
    if (!canRun && !canQueue) return 'refused';
    if (canRun) leaf.running.set(id, this.#queryBytes);
    else leaf.waiting.push({ id, priority, at: ++this.#at });
    this.#updateTurns(leaf);
    return canRun ? 'runs' : 'waits';
  }

  /** A query that runs holds more memory. */
  grow(leaf: ModelGroup, id: string, bytes: number): void {
    const held = leaf.running.get(id);
    if (held !== undefined) leaf.running.set(id, Math.max(held, bytes));
    this.#updateTurns(leaf);
  }

  /** A query ended or left its queue; returns the ids that start. */
  leave(leaf: ModelGroup, id: string): readonly string[] {
    leaf.running.delete(id);
    const index = leaf.waiting.findIndex((one) => one.id === id);
    if (index >= 0) leaf.waiting.splice(index, 1);
    this.#updateTurns(leaf);
    const started: string[] = [];
    while (this.root.canStart) started.push(this.#startNext());
    return started;
  }

  #startNext(): string {
    let group = this.root;
    while (group.children.length > 0) {
      const next = this.#nextChild(group);
      group.turns = group.turns.filter((one) => one !== next);
      group = next;
    }
    const [query] = group.waiting.toSorted((a, b) => (group.isByPriority ? b.priority - a.priority : 0) || a.at - b.at);
    if (query === undefined) throw new Error('a leaf that can start a query has one');
    group.waiting.splice(group.waiting.indexOf(query), 1);
    group.running.set(query.id, this.#queryBytes);
    this.#updateTurns(group);
    return query.id;
  }

  #nextChild(group: ModelGroup): ModelGroup {
    const { turns } = group;
    const first = (candidates: readonly ModelGroup[]): ModelGroup => {
      const [found] = candidates;
      if (found === undefined) throw new Error('a group that can start a query has a child that can');
      return found;
    };
    if (group.isByPriority) return first(turns.toSorted((a, b) => compareBest(best(a), best(b))));
    if (group.spec.schedulingPolicy !== 'weighted') return first(turns);
    const load = ({ runningCount, spec }: ModelGroup): number => runningCount / spec.schedulingWeight;
    return first(turns.toSorted((a, b) => load(a) - load(b)));
  }

  /** A group that can start a query again goes to the end of its parent's turns. */
  #updateTurns(leaf: ModelGroup): void {
    for (const group of leaf.path.toReversed()) {
      const { parent } = group;
      if (parent === null) return;
      if (!group.canStart) parent.turns = parent.turns.filter((one) => one !== group);
      else if (!parent.turns.includes(group)) parent.turns.push(group);
    }
  }
}

type Best = { readonly priority: number; readonly at: number };

/** The query that a group would start first by priority. */
function best(group: ModelGroup): Best {
  const own = group.waiting.toSorted((a, b) => compareBest(a, b))[0];
  const below = group.children.filter((one) => one.canStart).map(best);
  const [found] = [...below, ...(own === undefined ? [] : [own])].toSorted(compareBest);
  return found ?? { priority: -1, at: Infinity };
}

const compareBest = (a: Best, b: Best): number => b.priority - a.priority || a.at - b.at;
