import { expect } from 'vitest';
import { GroupTree } from '#coordinator/workload/group-tree.ts';
import type { PathStep } from '#coordinator/workload/route.ts';
import type { WorkClass } from '#coordinator/workload/work-class.ts';
import type { GroupSpec, Workload } from '#coordinator/workload/workload.ts';
import { must } from '#shared/must.ts';

/** What happens in a trace; numbers pick one of what is there, so that a shrunk trace is still one. */
export type Event =
  | {
      readonly kind: 'submit';
      readonly group: number;
      readonly workClass: WorkClass;
      readonly priority: number;
      /** One of the users for whom groups are made of a template. */
      readonly user?: number;
    }
  | { readonly kind: 'end' | 'cancel'; readonly query: number }
  | { readonly kind: 'charge'; readonly query: number; readonly cpuMs: number }
  | { readonly kind: 'tick'; readonly byMs: number }
  | { readonly kind: 'grow'; readonly query: number; readonly bytes: number }
  | { readonly kind: 'reload'; readonly file: number };

export type Trace = {
  /** The first is in force at the beginning. */
  readonly workloads: readonly Workload[];
  readonly memoryBytes: number;
  readonly events: readonly Event[];
};

type Known = {
  readonly id: string;
  readonly path: readonly PathStep[];
  readonly workClass: WorkClass;
  readonly priority: number;
  readonly sequence: number;
  state: 'waits' | 'runs';
};

/** The name of a group that is a template. */
export const USER = '${USER}';

const MEMORY = { reservations: { interactive: 1, medium: 2, batch: 4 }, interactiveShare: 0.25 };
const RESERVATION_MAX = MEMORY.reservations.batch;
const QUERY_BYTES_MAX = 40;

/** Runs a trace against the tree, and checks after every event what must hold. @returns the number of queries in it */
export function simulate({ workloads, memoryBytes, events }: Trace): number {
  let workload = must(workloads[0], 'a trace has a workload');
  const tree = new GroupTree(workload, MEMORY);
  const known = new Map<string, Known>();
  let nowMs = 1;
  let sequence = 0;
  tree.setMemory(memoryBytes);
  tree.tick(nowMs);
  const pick = (state: Known['state'], index: number): Known | undefined => {
    const those = [...known.values()].filter((one) => one.state === state);
    return those[index % Math.max(1, those.length)];
  };
  const begin = (ids: readonly string[]): void => {
    for (const id of ids) {
      const query = must(known.get(id), `${id} is live`);
      expect(query.state).toBe('waits');
      checkOrder(query, known, workload);
      query.state = 'runs';
    }
    if (ids.length === 0) return;
    const groups = new Map(tree.describe().map((group) => [group.path, group]));
    for (const id of ids) {
      // No limit is exceeded on the way from the root to the group of a query that starts.
      const [place] = placeOf(workload.root, must(known.get(id), `${id} is live`).path);
      for (let path = place; path !== ''; path = path.slice(0, Math.max(0, path.lastIndexOf('.')))) {
        const group = must(groups.get(path), `${path} is there`);
        expect(group.running).toBeLessThanOrEqual(group.effectiveConcurrency);
        // Each query that started now has added its reservation; before the last of them the group was within its soft limit.
        const { softMemoryLimitBytes: softBytes, memoryBytes: heldBytes } = group;
        if (softBytes !== null) expect(heldBytes - RESERVATION_MAX * ids.length).toBeLessThanOrEqual(softBytes);
      }
    }
    // Queries that start never count the same memory twice.
    if (memoryBytes > 0) expect(tree.memory.heldBytes).toBeLessThanOrEqual(tree.memory.totalBytes);
  };
  for (const event of events) {
    switch (event.kind) {
      case 'submit': {
        const paths = pathsOf(workload.root, `u${event.user ?? 0}`);
        const path = must(paths[event.group % paths.length], 'a tree has a root');
        const id = `q${++sequence}`;
        const { workClass, priority } = event;
        known.set(id, { id, path, workClass, priority, sequence, state: 'waits' });
        const asked = { id, tenant: 't', path, workClass, priority, memoryLimitBytes: QUERY_BYTES_MAX };
        const before = tree.describe();
        const submitted = tree.submit(asked);
        if (submitted.kind === 'refused') {
          known.delete(id);
          const full = before.find((group) => group.path === submitted.group);
          // A group that was made for this query from a template had none that waited.
          expect(submitted.queued).toBe(full?.queued ?? 0);
          expect(submitted.queued).toBeGreaterThanOrEqual(full?.maxQueuedQueries ?? submitted.queuedMax);
        }
        begin(submitted.started);
        break;
      }
      case 'end':
      case 'cancel': {
        const query = pick(event.kind === 'end' ? 'runs' : 'waits', event.query);
        if (query === undefined) break;
        known.delete(query.id);
        begin(tree.leave(query.id));
        break;
      }
      case 'charge': {
        const query = pick('runs', event.query);
        if (query !== undefined) tree.charge(query.id, event.cpuMs);
        break;
      }
      case 'grow': {
        const query = pick('runs', event.query);
        if (query !== undefined && memoryBytes > 0)
          expect(tree.grow(query.id, event.bytes)).toBeLessThanOrEqual(QUERY_BYTES_MAX);
        break;
      }
      case 'tick':
        nowMs += event.byMs;
        begin(tree.tick(nowMs));
        break;
      case 'reload':
        workload = must(workloads[event.file % workloads.length], 'a trace has a workload');
        begin(tree.reconfigure(workload));
        break;
    }
    checkTree(tree, known);
  }
  // Nothing is lost: when nothing more comes, every query has its turn.
  for (let ms = 0; known.size > 0; ms++) {
    expect(ms).toBeLessThan(10_000);
    const query = must(pick('runs', 0), 'work is conserved: while queries wait and none runs, one may start');
    known.delete(query.id);
    begin(tree.leave(query.id));
  }
  expect([tree.running, tree.queued]).toEqual([0, 0]);
  expect(
    tree
      .describe()
      .map((group) => group.memoryBytes)
      .filter((bytes) => bytes !== 0),
  ).toEqual([]);
  return sequence;
}

/** Checks the counts of all groups against the queries, and that no query waits that might run. */
function checkTree(tree: GroupTree, known: ReadonlyMap<string, Known>): void {
  const groups = tree.describe();
  for (const group of groups) {
    expect(group.running).toBeGreaterThanOrEqual(0);
    expect(group.queued).toBeGreaterThanOrEqual(0);
    const below = groups.filter(
      ({ path }) => path.startsWith(`${group.path}.`) && !path.slice(group.path.length + 1).includes('.'),
    );
    const sum = (of: (one: (typeof groups)[number]) => number): number =>
      below.reduce((total, one) => total + of(one), 0);
    expect(sum(({ running }) => running)).toBeLessThanOrEqual(group.running);
    expect(sum(({ queued }) => queued)).toBeLessThanOrEqual(group.queued);
    expect(sum(({ memoryBytes }) => memoryBytes)).toBeLessThanOrEqual(group.memoryBytes);
  }
  for (const { id, state } of known.values()) {
    const reason = tree.waitReason(id);
    expect(reason === null).toBe(state === 'runs');
    if (reason?.kind === 'concurrency') expect(reason.running).toBeGreaterThanOrEqual(reason.limit);
    if (reason?.kind === 'memory') expect(reason.totalBytes).toBeGreaterThan(0);
  }
}

/** A query that starts is the first of its lane, and in a `fair` group the oldest of its class; by priority none above it waits. */
function checkOrder(query: Known, known: ReadonlyMap<string, Known>, workload: Workload): void {
  const [group, isByPriority] = placeOf(workload.root, query.path);
  for (const other of known.values()) {
    if (other.state !== 'waits' || other === query || other.workClass !== query.workClass) continue;
    const [place] = placeOf(workload.root, other.path);
    if (place !== group) continue;
    const isAhead =
      isByPriority && other.priority !== query.priority
        ? other.priority > query.priority
        : other.sequence < query.sequence;
    expect(isAhead, `${query.id} overtakes ${other.id} in ${place}`).toBe(false);
  }
}

/** The group of a path that is there, or its nearest ancestor, and whether priority orders it. */
function placeOf(root: GroupSpec, path: readonly PathStep[]): readonly [string, boolean] {
  let spec = root;
  let place = root.name;
  let isByPriority = root.schedulingPolicy === 'query_priority';
  for (const step of path.slice(1)) {
    const next = spec.groups.find((one) => one.name === step.spec);
    if (next === undefined) break;
    spec = next;
    place += `.${step.name}`;
    isByPriority ||= spec.schedulingPolicy === 'query_priority';
  }
  return [place, isByPriority];
}

/** Paths of all groups, and of those that a user has of templates. */
export function pathsOf(
  spec: GroupSpec,
  user: string,
  above: readonly PathStep[] = [],
): readonly (readonly PathStep[])[] {
  const own = [...above, { spec: spec.name, name: spec.name === USER ? user : spec.name }];
  return [own, ...spec.groups.flatMap((one) => pathsOf(one, user, own))];
}
