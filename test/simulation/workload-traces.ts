import fc from 'fast-check';
import { DEFAULT_WORKLOAD, GROUP_DEFAULTS, type GroupSpec, type Workload } from '#coordinator/workload/workload.ts';
import { simulate, USER, type Event, type Trace } from './simulate-workload.ts';

/** A trace has about 107 queries on average, because a third of its events are a new one; a hundred of them count. */
const EVENTS_PER_TRACE = 322;
const QUERIES_PER_TRACE = 100;
const USERS = 3;

const policy = fc.constantFrom('fair', 'weighted', 'query_priority' as const);

const limits = fc.record({
  hardConcurrencyLimit: fc.integer({ min: 1, max: 6 }),
  softConcurrencyLimit: fc.integer({ min: 1, max: 6 }),
  maxQueuedQueries: fc.integer({ min: 0, max: 12 }),
  schedulingPolicy: policy,
  schedulingWeight: fc.integer({ min: 1, max: 5 }),
});

const group = (depth: number, index: number): fc.Arbitrary<GroupSpec> =>
  fc
    .tuple(limits, depth === 0 ? fc.constant([]) : fc.integer({ min: 0, max: 3 }).chain((n) => groups(depth - 1, n)))
    .map(([own, below]) => ({ ...GROUP_DEFAULTS, name: `g${index}`, ...own, groups: below }));

const groups = (depth: number, count: number): fc.Arbitrary<GroupSpec[]> =>
  fc.tuple(...Array.from({ length: count }, (_, i) => group(depth, i)));

/** Trees of groups. */
export const tree = fc
  .tuple(
    limits,
    fc.integer({ min: 0, max: 3 }).chain((n) => groups(1, n)),
  )
  .map(([own, below]): GroupSpec => ({ ...GROUP_DEFAULTS, name: 'root', ...own, groups: below }));

/** Limits of CPU time, and of memory, in some groups; the second of the groups below a group is a template. */
const withMore = (root: GroupSpec, cpuMs: number | null, memoryBytes: number | null): GroupSpec => ({
  ...root,
  softCpuLimitMs: cpuMs,
  softMemoryLimitBytes: memoryBytes,
  groups: root.groups.map((one, i) => ({
    ...withMore(one, i === 0 ? cpuMs : null, i === 1 ? memoryBytes : null),
    name: i === 1 && memoryBytes !== null ? USER : one.name,
  })),
});

const workload = fc
  .tuple(
    tree,
    // Half of the files have no such limit: the root's holds back nearly every query before the workers' memory does.
    fc.option(fc.integer({ min: 1, max: 5_000 }), { freq: 2 }),
    fc.option(fc.integer({ min: 0, max: 60 }), { freq: 2 }),
    fc.constantFrom(0, 10_000),
  )
  .map(([root, cpuMs, memoryBytes, cpuQuotaPeriodMs]): Workload => ({
    ...DEFAULT_WORKLOAD,
    root: withMore(root, cpuMs, memoryBytes),
    cpuQuotaPeriodMs,
  }));

/** Groups that hold nothing back: their queries wait for the workers' memory. */
const WIDE = { hardConcurrencyLimit: 40, softConcurrencyLimit: 40, maxQueuedQueries: 40 };
const widened = (spec: GroupSpec): GroupSpec => ({ ...spec, ...WIDE, groups: spec.groups.map(widened) });
const wide = tree.map((root): Workload => ({ ...DEFAULT_WORKLOAD, root: widened(root) }));

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('submit' as const),
      group: fc.nat(),
      workClass: fc.constantFrom('interactive' as const, 'medium' as const, 'batch' as const),
      priority: fc.integer({ min: 0, max: 4 }),
      user: fc.nat({ max: USERS - 1 }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('end' as const), query: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), query: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('charge' as const),
      query: fc.nat(),
      cpuMs: fc.integer({ min: 1, max: 2_000 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('tick' as const), byMs: fc.integer({ min: 1, max: 5_000 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('grow' as const),
      query: fc.nat(),
      // Half of them ask for all that a query may have, so that queries wait for memory.
      bytes: fc.oneof(fc.constant(50), fc.integer({ min: 1, max: 50 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reload' as const), file: fc.nat() }) },
);

const trace: fc.Arbitrary<Trace> = fc.record({
  workloads: fc.array(fc.oneof(workload, wide), { minLength: 1, maxLength: 3 }),
  memoryBytes: fc.constantFrom(0, 24, 64, 64, 100, 400),
  events: fc.array(event, {
    minLength: EVENTS_PER_TRACE,
    maxLength: EVENTS_PER_TRACE,
    size: 'max',
  }),
});

/** Simulates about this many queries, with what may happen to them. @returns their number @throws with the smallest trace that breaks a rule */
export function simulateQueries(queries: number): number {
  let simulated = 0;
  fc.assert(
    fc.property(trace, (one) => void (simulated += simulate(one))),
    { numRuns: Math.ceil(queries / QUERIES_PER_TRACE) },
  );
  return simulated;
}
