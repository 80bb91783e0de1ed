import { expect } from 'vitest';
import { GroupTree } from '#coordinator/workload/group-tree.ts';
import type { PathStep } from '#coordinator/workload/route.ts';
import type { WorkClass } from '#coordinator/workload/work-class.ts';
import type { GroupSpec, Workload } from '#coordinator/workload/workload.ts';
import { must } from '#shared/must.ts';
import { MemoryModel } from './memory-model.ts';

/** The events of a trace; numbers pick one of what is there, so that a shrunk trace is still one. */
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
  const memory = new MemoryModel(memoryBytes, MEMORY);
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
      memory.start(id, query.workClass);
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
        memory.end(query.id);
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
        if (query === undefined || memoryBytes === 0) break;
        const bytes = tree.grow(query.id, event.bytes);
        expect(bytes).toBeLessThanOrEqual(QUERY_BYTES_MAX);
        memory.grow(query.id, bytes);
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
    checkTree(tree);
    // Work and growth start nothing: a query that they hold back lets the others pass at the next event, a tick at the latest.
    const lets = event.kind !== 'charge' && event.kind !== 'grow';
    checkWaits({ tree, known, memory, workload, lets });
  }
  // Nothing is lost: when nothing more comes, every query has its turn.
  for (let ms = 0; known.size > 0; ms++) {
    expect(ms).toBeLessThan(10_000);
    const query = must(pick('runs', 0), 'work is conserved: while queries wait and none runs, one may start');
    known.delete(query.id);
    memory.end(query.id);
    begin(tree.leave(query.id));
    checkWaits({ tree, known, memory, workload, lets: true });
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

/** Checks the counts of all groups against each other. */
function checkTree(tree: GroupTree): void {
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
}

type Waits = {
  readonly tree: GroupTree;
  readonly known: ReadonlyMap<string, Known>;
  readonly memory: MemoryModel;
  readonly workload: Workload;
  /** The tree has just started all that it could. */
  readonly lets: boolean;
};

/**
 * Work is conserved: no query waits that might run. It waits because a group on its path runs its limit or holds more than its soft memory
 * limit, both counted from the queries that run there, or because the workers' memory has no room. Then one query at least does not fit what
 * its class may use, and for it the others leave what all classes share: none of them fits the interactive share.
 */
function checkWaits({ tree, known, memory, workload, lets }: Waits): void {
  expect(tree.memory.heldBytes).toBe(memory.heldBytes);
  const held = new Map<string, { running: number; bytes: number }>();
  for (const { id, state, path } of known.values()) {
    if (state !== 'runs') continue;
    const [place] = placeOf(workload.root, path);
    const names = place.split('.');
    for (const [i] of names.entries()) {
      const above = names.slice(0, i + 1).join('.');
      const { running, bytes } = held.get(above) ?? { running: 0, bytes: 0 };
      held.set(above, { running: running + 1, bytes: bytes + memory.of(id) });
    }
  }
  const forMemory: Known[] = [];
  for (const query of known.values()) {
    const reason = tree.waitReason(query.id);
    expect(reason === null).toBe(query.state === 'runs');
    if (reason === null) continue;
    if (reason.kind === 'memory') {
      forMemory.push(query);
      continue;
    }
    const [place] = placeOf(workload.root, query.path);
    expect(`${place}.`).toContain(`${reason.group}.`);
    const { running, bytes } = held.get(reason.group) ?? { running: 0, bytes: 0 };
    if (reason.kind === 'concurrency') {
      expect(reason.running).toBe(running);
      expect(running).toBeGreaterThanOrEqual(reason.limit);
    } else {
      expect(reason.memoryBytes).toBe(bytes);
      expect(bytes).toBeGreaterThan(reason.limitBytes);
    }
  }
  for (const { id, workClass } of forMemory)
    expect(memory.fitsKept(workClass), `${id} waits, but fits the interactive share`).toBe(false);
  if (lets && forMemory.length > 0)
    expect(
      forMemory.some(({ workClass }) => !memory.fits(workClass)),
      'queries wait for memory, but each of them fits',
    ).toBe(true);
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
