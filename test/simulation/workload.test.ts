import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GroupTree } from '#coordinator/workload/group-tree.ts';
import type { PathStep } from '#coordinator/workload/route.ts';
import { DEFAULT_WORKLOAD, type GroupSpec } from '#coordinator/workload/workload.ts';
import { must } from '#shared/must.ts';
import { simulateSlots } from './simulate-slots.ts';
import { pathsOf, simulate, type Trace } from './simulate-workload.ts';
import { simulateQueries, tree } from './workload-traces.ts';
import { Model, type ModelGroup } from './workload-model.ts';

/** `.ci/run` simulates more (`workload-all.test.ts`). */
const QUERIES = 2_000;

const MEMORY = { reservations: { interactive: 1, medium: 2, batch: 4 }, interactiveShare: 0.25 };

const FOUND = new URL('found/', import.meta.url);

describe('resource groups', () => {
  test.each(readdirSync(FOUND))('an earlier counterexample: %s', (name) => {
    simulate(JSON.parse(readFileSync(new URL(name, FOUND), 'utf8')) as Trace);
  });

  test('generated queries keep every limit, their order and their turns, also when the file changes', () => {
    expect(simulateQueries(QUERIES)).toBeGreaterThan(QUERIES * 0.9);
  });

  test('a thousand traces are admitted as the model of Trino’s rules admits them', () => {
    const step = fc.record({
      kind: fc.constantFrom('submit', 'submit', 'leave', 'grow'),
      pick: fc.nat(),
      priority: fc.integer({ min: 0, max: 4 }),
      bytes: fc.integer({ min: 1, max: QUERY_BYTES_MAX }),
    });
    let traces = 0;
    fc.assert(
      fc.property(tree, fc.array(step, { minLength: 20, maxLength: 120 }), (root, steps) => {
        compareWithTrino(asInTrino(root), steps);
        traces += 1;
      }),
      { numRuns: 1_000 },
    );
    expect(traces).toBe(1_000);
  });
});

type Step = { readonly kind: string; readonly pick: number; readonly priority: number; readonly bytes: number };

const QUERY_BYTES_MAX = 40;

/** A tree whose rules ours and Trino's are meant to share: soft concurrency is never reached, and some groups have a limit of memory. */
const asInTrino = (spec: GroupSpec): GroupSpec => ({
  ...spec,
  softConcurrencyLimit: spec.hardConcurrencyLimit,
  softMemoryLimitBytes: spec.schedulingWeight % 2 === 0 ? 12 * spec.schedulingWeight : null,
  groups: spec.groups.map(asInTrino),
});

function compareWithTrino(root: GroupSpec, steps: readonly Step[]): void {
  const model = new Model(root, MEMORY.reservations.medium);
  const own = new GroupTree({ ...DEFAULT_WORKLOAD, root }, MEMORY);
  own.setMemory(1e9);
  const live = new Map<string, ModelGroup>();
  const bytesMax = { workClass: 'medium' as const, memoryLimitBytes: QUERY_BYTES_MAX };
  for (const [i, { kind, pick, priority, bytes }] of steps.entries()) {
    const [id, leaf] = [...live][pick % Math.max(1, live.size)] ?? [];
    if (kind === 'submit' || id === undefined || leaf === undefined) {
      const target = must(model.root.leaves[pick % model.root.leaves.length], 'a tree has leaves');
      const path: PathStep[] = target.path.map(({ spec: { name } }) => ({ spec: name, name }));
      const submitted = own.submit({ id: `q${i}`, tenant: 't', path, priority, ...bytesMax });
      const answer = submitted.kind === 'refused' ? 'refused' : submitted.started.includes(`q${i}`) ? 'runs' : 'waits';
      expect(answer).toBe(model.submit(target, `q${i}`, priority));
      if (answer !== 'refused') live.set(`q${i}`, target);
    } else if (kind === 'grow') {
      own.grow(id, bytes);
      model.grow(leaf, id, bytes);
    } else {
      live.delete(id);
      expect(own.leave(id)).toEqual(model.leave(leaf, id));
    }
  }
}

describe('shares', () => {
  test('weighted groups that always have queries run in proportion to their weights, within 5 %', () => {
    const weights = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 2, maxLength: 4 });
    fc.assert(fc.property(weights, fc.array(fc.nat(), { minLength: 150, maxLength: 150 }), keepShares), {
      numRuns: 20,
    });
  });

  test('no query starves while others come without end', () => {
    const picks = fc.array(fc.nat(), { minLength: 50, maxLength: 50 });
    fc.assert(fc.property(tree, fc.nat(), picks, starveNone), { numRuns: 200 });
  });
});

/** Queries of a group for each unit of its weight, while all groups are busy: a share of 5 % is more than one query. */
const RUNNING_PER_WEIGHT = 25;

/** Every group always has queries that wait; those that end are chosen by `ends`. */
function keepShares(weights: readonly number[], ends: readonly number[]): void {
  const total = weights.reduce((sum, weight) => sum + weight, 0) * RUNNING_PER_WEIGHT;
  const groups = weights.map((weight, i) => ({
    ...DEFAULT_WORKLOAD.root,
    name: `g${i}`,
    hardConcurrencyLimit: total,
    softConcurrencyLimit: total,
    maxQueuedQueries: 1e6,
    schedulingWeight: weight,
  }));
  const limits = { hardConcurrencyLimit: total, softConcurrencyLimit: total, maxQueuedQueries: 1e6 };
  const root: GroupSpec = { ...DEFAULT_WORKLOAD.root, ...limits, schedulingPolicy: 'weighted', groups };
  const own = new GroupTree({ ...DEFAULT_WORKLOAD, root }, MEMORY);
  const running: string[] = [];
  const query = { tenant: 't', workClass: 'medium', priority: 2, memoryLimitBytes: 1 } as const;
  // As many as start at once, that start until each group has its share, and that start afterwards.
  for (let i = 0; i < 2 * total + ends.length; i++) {
    for (const { name } of groups) {
      const path = ['root', name].map((one) => ({ spec: one, name: one }));
      running.push(...own.submit({ ...query, id: `${name}/${i}`, path }).started);
    }
  }
  // From now on each group has its share, whichever queries end; before, the places went to those that came first.
  while (running.some((id) => Number(id.split('/')[1]) < total / groups.length)) {
    running.push(...own.leave(must(running.shift(), 'one runs')));
  }
  for (const end of ends) {
    const [id] = running.splice(end % running.length, 1);
    running.push(...own.leave(must(id, 'one runs')));
    for (const [i, weight] of weights.entries()) {
      const count = running.filter((one) => one.startsWith(`g${i}/`)).length;
      expect(Math.abs(count / (weight * RUNNING_PER_WEIGHT) - 1)).toBeLessThanOrEqual(0.05);
    }
  }
}

/** Ends of queries after which every query that waited has started, in the trees that `tree` makes. */
const ENDS_MAX = 2_000;

/** A query waits while new ones come to every group of its tree, two for each that ends. */
function starveNone(random: GroupSpec, place: number, picks: readonly number[]): void {
  const root = withoutPriority(random);
  const own = new GroupTree({ ...DEFAULT_WORKLOAD, root }, MEMORY);
  const paths = pathsOf(root, '');
  const running: string[] = [];
  const submit = (id: string, index: number): void => {
    const path = must(paths[index % paths.length], 'a tree has a root');
    const submitted = own.submit({ id, tenant: 't', path, workClass: 'batch', priority: 1, memoryLimitBytes: 1 });
    running.push(...submitted.started);
  };
  for (const [i, pick] of picks.entries()) submit(`before${i}`, pick);
  submit('waits', place);
  for (let i = 0; own.queuePosition('waits') !== null; i++) {
    expect(i).toBeLessThan(ENDS_MAX);
    for (const half of [0, 1]) submit(`later${2 * i + half}`, must(picks[(2 * i + half) % picks.length], 'a pick'));
    running.push(...own.leave(must(running.shift(), 'one runs')));
  }
}

const withoutPriority = (spec: GroupSpec): GroupSpec => ({
  ...spec,
  schedulingPolicy: spec.schedulingPolicy === 'query_priority' ? 'fair' : spec.schedulingPolicy,
  groups: spec.groups.map(withoutPriority),
});

describe('slots', () => {
  test('tenants, then principals, have equal time, levels twice that of the next, and nobody who can run waits for ever', () => {
    simulateSlots(15);
  });
});
