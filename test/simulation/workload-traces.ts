import fc from 'fast-check';
import { DEFAULT_WORKLOAD, GROUP_DEFAULTS, type GroupSpec, type Workload } from '#coordinator/workload/workload.ts';
import { simulate, type Event, type Trace } from './simulate-workload.ts';

const QUERIES_PER_TRACE = 100;

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

const withCpu = (root: GroupSpec, soft: number | null): GroupSpec => ({
  ...root,
  softCpuLimitMs: soft,
  groups: root.groups.map((one, i) => withCpu(one, i === 0 ? soft : null)),
});

const workload = fc
  .tuple(tree, fc.option(fc.integer({ min: 1, max: 5_000 })), fc.constantFrom(0, 10_000))
  .map(([root, soft, cpuQuotaPeriodMs]): Workload => ({
    ...DEFAULT_WORKLOAD,
    root: withCpu(root, soft),
    cpuQuotaPeriodMs,
  }));

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('submit' as const),
      group: fc.nat(),
      workClass: fc.constantFrom('interactive' as const, 'medium' as const, 'batch' as const),
      priority: fc.integer({ min: 0, max: 4 }),
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
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('grow' as const),
      query: fc.nat(),
      bytes: fc.integer({ min: 1, max: 50 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reload' as const), file: fc.nat() }) },
);

const trace: fc.Arbitrary<Trace> = fc.record({
  workloads: fc.array(workload, { minLength: 1, maxLength: 3 }),
  memoryBytes: fc.constantFrom(0, 64, 400),
  events: fc.array(event, { minLength: 2 * QUERIES_PER_TRACE, maxLength: 2 * QUERIES_PER_TRACE, size: 'max' }),
});

/** Simulates about this many queries, with what may happen to them. @throws with the smallest trace that breaks a rule */
export function simulateQueries(queries: number): void {
  fc.assert(
    fc.property(trace, (one) => simulate(one)),
    { numRuns: Math.ceil(queries / QUERIES_PER_TRACE) },
  );
}
