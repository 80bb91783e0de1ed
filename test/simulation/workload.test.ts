import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GroupTree } from '#coordinator/workload/group-tree.ts';
import { readWorkload } from '#coordinator/workload/read-workload.ts';
import type { PathStep } from '#coordinator/workload/route.ts';
import { DEFAULT_WORKLOAD } from '#coordinator/workload/workload.ts';
import { must } from '#shared/must.ts';
import { checkTree, simulate, type Trace } from './simulate-workload.ts';
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
    simulateQueries(QUERIES);
  });

  test('a thousand traces are admitted as the model of Trino’s rules admits them', () => {
    const steps = fc.array(fc.tuple(fc.boolean(), fc.nat(), fc.integer({ min: 0, max: 4 })), {
      minLength: 20,
      maxLength: 120,
    });
    fc.assert(
      fc.property(tree, steps, (root, moves) => {
        const model = new Model(root);
        const own = new GroupTree({ ...DEFAULT_WORKLOAD, root }, MEMORY);
        const live = new Map<string, ModelGroup>();
        for (const [i, [isNew, pick, priority]] of moves.entries()) {
          const id = `q${i}`;
          if (isNew || live.size === 0) {
            const leaf = must(model.root.leaves[pick % model.root.leaves.length], 'a tree has leaves');
            const path: PathStep[] = leaf.path.map(({ spec: { name } }) => ({ spec: name, name }));
            const asked = { id, tenant: 't', path, workClass: 'medium' as const, priority, memoryLimitBytes: 1 };
            const submitted = own.submit(asked);
            const answer = submitted.kind === 'refused' ? 'refused' : submitted.started.includes(id) ? 'runs' : 'waits';
            expect(answer).toBe(model.submit(leaf, id, priority));
            if (answer !== 'refused') live.set(id, leaf);
            continue;
          }
          const [gone, leaf] = must([...live][pick % live.size], 'a query is live');
          live.delete(gone);
          expect(own.leave(gone)).toEqual(model.leave(leaf, gone));
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('shares', () => {
  test('weighted groups that always have queries run in proportion to their weights, within 5 %', () => {
    const weights = [1, 2, 3, 4];
    const named = weights.map(
      (weight) => `{name: g${weight}, scheduling_weight: ${weight}, max_queued_queries: 100000}`,
    );
    const yaml = `resource_groups: [{name: root, hard_concurrency_limit: 100, scheduling_policy: weighted,
      max_queued_queries: 100000, groups: [${named.join(', ')}]}]`;
    const own = new GroupTree(readWorkload(yaml, 'w.yaml'), MEMORY);
    const running: { id: string; weight: number }[] = [];
    const runs = new Map<number, number>();
    const weightOf = new Map<string, number>();
    const begin = (ids: readonly string[]): void => {
      for (const id of ids) {
        const weight = must(weightOf.get(id), 'it was submitted');
        running.push({ id, weight });
      }
    };
    for (let i = 0; i < 8_000; i++) {
      const weight = must(weights[i % 4], 'a weight');
      weightOf.set(`${i}`, weight);
      const path = ['root', `g${weight}`].map((name) => ({ spec: name, name }));
      begin(
        own.submit({ id: `${i}`, tenant: 't', path, workClass: 'medium', priority: 2, memoryLimitBytes: 1 }).started,
      );
    }
    for (let i = 0; i < 1_500; i++) {
      begin(own.leave(must(running.shift(), 'a query runs').id));
      if (i >= 500) for (const { weight } of running) runs.set(weight, (runs.get(weight) ?? 0) + 1);
    }
    checkTree(own, new Map());
    for (const weight of weights) {
      const share = (runs.get(weight) ?? 0) / 1_000 / 100;
      expect(share).toBeGreaterThan((weight / 10) * 0.95);
      expect(share).toBeLessThan((weight / 10) * 1.05);
    }
  });

  test('no query starves while others come without end', () => {
    const yaml = 'resource_groups: [{name: root, hard_concurrency_limit: 1, groups: [{name: a}, {name: b}]}]';
    const own = new GroupTree(readWorkload(yaml, 'w.yaml'), MEMORY);
    const submit = (id: string, name: string): readonly string[] => {
      const path = (name === 'root' ? ['root'] : ['root', name]).map((one) => ({ spec: one, name: one }));
      return own.submit({ id, tenant: 't', path, workClass: 'batch', priority: 1, memoryLimitBytes: 1 }).started;
    };
    let [running] = submit('first', 'a');
    submit('a', 'a');
    submit('b', 'b');
    const seen = new Set<string>();
    for (let i = 0; i < 10; i++) {
      submit(`own${i}`, 'root');
      submit(`a${i}`, 'a');
      [running] = own.leave(must(running, 'one runs'));
      seen.add(must(running, 'the next one runs'));
    }
    expect(seen).toContain('a');
    expect(seen).toContain('b');
    expect(seen).toContain('own0');
  });
});
