import { describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { effectiveConcurrency } from './group.ts';
import { GroupTree } from './group-tree.ts';
import { printReason, visibleTo } from './group-snapshot.ts';
import { readWorkload } from './read-workload.ts';
import { route, type PathStep } from './route.ts';
import type { WorkClass } from './work-class.ts';
import type { RoutingRule } from './workload.ts';

const GB = 1e9;
const MEMORY = { reservations: { interactive: 0.25 * GB, medium: 0.5 * GB, batch: GB }, interactiveShare: 0.25 };

const treeOf = (yaml: string): GroupTree => new GroupTree(readWorkload(yaml, 'w.yaml'), MEMORY);

const path = (dotted: string): PathStep[] => dotted.split('.').map((name) => ({ spec: name, name }));

type Given = { readonly workClass?: WorkClass; readonly priority?: number; readonly steps?: readonly PathStep[] };

/** Submits queries to a group; returns the ids that started. */
function submit(tree: GroupTree, ids: readonly string[], to: string, given: Given = {}): string[] {
  return ids.flatMap((id) => {
    const { workClass = 'batch', priority = 1, steps = path(to) } = given;
    const query = { id, tenant: 'a', path: steps, workClass, priority, memoryLimitBytes: 8 * GB };
    return [...tree.submit(query).started];
  });
}

describe('limits of the subtree', () => {
  test('a query runs only when every ancestor allows it', () => {
    const tree = treeOf(`
      resource_groups: [{name: root, hard_concurrency_limit: 3, groups: [
        {name: a, hard_concurrency_limit: 2, groups: [{name: x}, {name: y}]}, {name: b}]}]`);
    expect(submit(tree, ['1', '2'], 'root.a.x')).toEqual(['1', '2']);
    expect(submit(tree, ['3'], 'root.a.y')).toEqual([]);
    expect(printReason(must(tree.waitReason('3'), 'it waits'))).toBe('root.a runs 2 of 2');
    expect(submit(tree, ['4', '5'], 'root.b')).toEqual(['4']);
    expect(printReason(must(tree.waitReason('5'), 'it waits'))).toBe('root runs 3 of 3');
    expect(tree.leave('4')).toEqual(['5']);
    expect(tree.leave('1')).toEqual(['3']);
  });

  test('a full queue of an ancestor refuses, and names the group', () => {
    const tree = treeOf(`
      resource_groups: [{name: root, groups: [
        {name: a, hard_concurrency_limit: 1, max_queued_queries: 2, groups: [{name: x}, {name: y}]}]}]`);
    submit(tree, ['1', '2'], 'root.a.x');
    submit(tree, ['3'], 'root.a.y');
    const query = {
      id: '4',
      tenant: 'a',
      path: path('root.a.y'),
      workClass: 'batch',
      priority: 1,
      memoryLimitBytes: 1,
    } as const;
    expect(tree.submit(query)).toMatchObject({ kind: 'refused', group: 'root.a', queued: 2, queuedMax: 2 });
    expect([tree.running, tree.queued]).toEqual([1, 2]);
  });

  test('one that leaves the queue frees its place', () => {
    const tree = treeOf('resource_groups: [{name: root, hard_concurrency_limit: 1, max_queued_queries: 1}]');
    submit(tree, ['1', '2'], 'root');
    expect(tree.leave('2')).toEqual([]);
    submit(tree, ['3'], 'root');
    expect([tree.queuePosition('3'), tree.queued]).toEqual([1, 1]);
  });

  test('no query queues where none may, and one still runs', () => {
    const tree = treeOf('resource_groups: [{name: root, hard_concurrency_limit: 1, max_queued_queries: 0}]');
    expect(submit(tree, ['1', '2'], 'root')).toEqual(['1']);
    expect(tree.queued).toBe(0);
  });

  test('a group over its soft memory starts nothing', () => {
    const tree = treeOf('resource_groups: [{name: root, groups: [{name: a, soft_memory_limit_bytes: 900000000}]}]');
    tree.setMemory(100 * GB);
    expect(submit(tree, ['1', '2'], 'root.a')).toEqual(['1']);
    expect(printReason(must(tree.waitReason('2'), 'it waits'))).toBe(
      'root.a holds 954 MiB of memory, more than its 858 MiB',
    );
    expect(tree.leave('1')).toEqual(['2']);
  });
});

describe('CPU time', () => {
  const spec = { hardConcurrencyLimit: 10, softConcurrencyLimit: 5, softCpuLimitMs: 1_000, hardCpuLimitMs: null };

  test.each([
    [999, 10],
    [1_000, 5],
    [1_250, 4],
    [1_500, 3],
    [1_999, 1],
    [2_000, 1],
    [9_000, 1],
  ])('at %i ms the group may run %i', (cpuMs, expected) => {
    expect(effectiveConcurrency(spec, cpuMs)).toBe(expected);
  });

  test.each([
    [999, 10],
    [1_000, 1],
  ])('with a hard limit of 1000 ms alone, at %i ms the group may run %i', (cpuMs, expected) => {
    expect(effectiveConcurrency({ ...spec, softCpuLimitMs: null, hardCpuLimitMs: 1_000 }, cpuMs)).toBe(expected);
  });

  test('counts in every ancestor, and falls over the quota period', () => {
    const tree = treeOf(`
      cpu_quota_period: 10s
      resource_groups: [{name: root, groups: [{name: a, hard_concurrency_limit: 4, soft_cpu_limit_ms: 1000, groups: [{name: x}]}]}]`);
    tree.tick(1);
    submit(tree, ['1', '2', '3'], 'root.a.x');
    tree.charge('1', 2_000);
    expect(submit(tree, ['4'], 'root.a.x')).toEqual([]);
    expect(printReason(must(tree.waitReason('4'), 'it waits'))).toBe(
      'root.a runs 3 of 1, fewer because of the CPU time that it has used',
    );
    expect(tree.tick(2_001)).toEqual([]);
    // 2 s in 10 s: after 5 s half is left.
    expect(tree.tick(5_101)).toEqual(['4']);
    const [root, a] = tree.describe();
    expect([root?.cpuTimeMs, a?.cpuTimeMs, a?.cpuUsageMs]).toEqual([2_000, 2_000, 980]);
  });
});

describe('order', () => {
  const start = (tree: GroupTree, count: number): string[] => {
    const order: string[] = [];
    for (let running = 'first'; order.length < count; running = order.at(-1) ?? '') order.push(...tree.leave(running));
    return order;
  };

  test('fair is FIFO, and the groups below take turns', () => {
    const tree = treeOf('resource_groups: [{name: root, hard_concurrency_limit: 1, groups: [{name: a}, {name: b}]}]');
    submit(tree, ['first', '1'], 'root');
    submit(tree, ['a1', 'a2', 'a3'], 'root.a');
    submit(tree, ['b1'], 'root.b');
    submit(tree, ['2'], 'root');
    expect(start(tree, 6)).toEqual(['1', 'a1', 'b1', '2', 'a2', 'a3']);
  });

  test('weighted starts where running / weight is lowest', () => {
    const tree = treeOf(`
      resource_groups: [{name: root, hard_concurrency_limit: 4, scheduling_policy: weighted, groups: [
        {name: a, scheduling_weight: 3}, {name: b}]}]`);
    submit(tree, ['f1', 'f2', 'f3', 'f4'], 'root');
    submit(tree, ['a1', 'a2', 'a3', 'a4'], 'root.a');
    submit(tree, ['b1', 'b2', 'b3', 'b4'], 'root.b');
    for (const id of ['f1', 'f2', 'f3', 'f4']) tree.leave(id);
    expect(tree.describe().map(({ running }) => running)).toEqual([4, 3, 1]);
  });

  test('a group above its soft concurrency comes after its siblings below theirs', () => {
    const tree = treeOf(`
      resource_groups: [{name: root, hard_concurrency_limit: 3, scheduling_policy: weighted, groups: [
        {name: a, soft_concurrency_limit: 1, scheduling_weight: 100}, {name: b}]}]`);
    submit(tree, ['first', 'second', 'third'], 'root');
    submit(tree, ['a1', 'a2'], 'root.a');
    submit(tree, ['b1', 'b2'], 'root.b');
    expect(['first', 'second', 'third'].flatMap((id) => tree.leave(id))).toEqual(['a1', 'b1', 'b2']);
  });

  test('query_priority goes by priority, then by age, also below a weighted parent and in the groups below', () => {
    const tree = treeOf(`
      resource_groups: [{name: root, hard_concurrency_limit: 1, scheduling_policy: weighted, groups: [
        {name: p, scheduling_policy: query_priority, groups: [{name: x}, {name: y}]}]}]`);
    submit(tree, ['first'], 'root.p');
    submit(tree, ['low'], 'root.p.x', { priority: 1 });
    submit(tree, ['high', 'high2'], 'root.p.x', { priority: 3 });
    submit(tree, ['top'], 'root.p.y', { priority: 4 });
    submit(tree, ['high3'], 'root.p', { priority: 3 });
    expect(tree.queuePosition('low')).toBe(3);
    expect(start(tree, 5)).toEqual(['top', 'high', 'high2', 'high3', 'low']);
  });
});

describe('memory of the workers', () => {
  test('queries that start together never count the same memory twice, and batch leaves the interactive share', () => {
    const tree = treeOf('resource_groups: [{name: root}]');
    tree.setMemory(16 * GB);
    const started = submit(
      tree,
      Array.from({ length: 20 }, (_, i) => `b${i}`),
      'root',
    );
    expect(started).toHaveLength(12);
    expect(printReason(must(tree.waitReason('b12'), 'it waits'))).toBe(
      "queries hold 11444 MiB of the workers' 15259 MiB of memory",
    );
    expect(submit(tree, ['i1', 'i2'], 'root', { workClass: 'interactive' })).toEqual(['i1', 'i2']);
    // Interactive queries cannot keep the memory from the batch query in turn.
    submit(
      tree,
      Array.from({ length: 40 }, (_, i) => `j${i}`),
      'root',
      { workClass: 'interactive' },
    );
    expect(tree.leave('b0')).toEqual(['b12']);
  });

  test('a query grows by half of what is free, up to its limit', () => {
    const tree = treeOf('resource_groups: [{name: root}]');
    tree.setMemory(16 * GB);
    submit(tree, ['1', '2'], 'root');
    expect(tree.grow('1', 100 * GB)).toBe(5 * GB);
    expect(tree.grow('1', 100 * GB)).toBe(7 * GB);
    expect(tree.grow('1', 100 * GB)).toBe(8 * GB);
    expect(tree.grow('2', 100 * GB)).toBe(1.5 * GB);
    tree.leave('1');
    expect(tree.grow('2', 3 * GB)).toBe(3 * GB);
  });

  test('queries that started while there was no worker have their reservations when there is one', () => {
    const tree = treeOf('resource_groups: [{name: root}]');
    expect(submit(tree, ['1', '2'], 'root')).toEqual(['1', '2']);
    expect(tree.grow('1', 3 * GB)).toBe(3 * GB);
    tree.setMemory(16 * GB);
    expect(tree.memory.heldBytes).toBe(2 * GB);
    // The others take what is free.
    const others = Array.from({ length: 20 }, (_, i) => `b${i}`);
    submit(tree, others, 'root');
    expect(tree.grow('2', 3 * GB)).toBe(GB);
  });

  test('what they reserve then counts for the soft memory limits of their groups', () => {
    const tree = treeOf(`resource_groups: [{name: root, groups: [{name: a, soft_memory_limit_bytes: ${GB / 2}}]}]`);
    expect(submit(tree, ['1'], 'root.a')).toEqual(['1']);
    tree.setMemory(16 * GB);
    expect(submit(tree, ['2'], 'root.a')).toEqual([]);
    expect(tree.leave('1')).toEqual(['2']);
  });

  test('reservations shrink with the cluster', () => {
    const tree = treeOf('resource_groups: [{name: root}]');
    tree.setMemory(1.6 * GB);
    expect(
      submit(
        tree,
        Array.from({ length: 20 }, (_, i) => `b${i}`),
        'root',
      ),
    ).toHaveLength(12);
  });
});

describe('groups made from templates', () => {
  const yaml = `
    resource_groups: [{name: root, groups: [{name: "\${TENANT}", groups: [{name: "\${USER}", hard_concurrency_limit: 1}]}, {name: shared}]}]
    routing_rules: [{match_source: etl, target_group: root.shared}, {target_group: "root.\${TENANT}.\${USER}"}]`;
  const { rules } = readWorkload(yaml, 'w.yaml');
  const of = (tenant: string, username: string): readonly PathStep[] =>
    route(rules, { tenant, principal: 'id', username, source: null, resourcePool: '', queryType: 'select' }).path;

  test('are made on first use with the template’s properties, and forgotten when idle', () => {
    const tree = treeOf(yaml);
    expect(submit(tree, ['1', '2'], '', { steps: of('acme', 'ann.lee') })).toEqual(['1']);
    expect(submit(tree, ['3'], '', { steps: of('acme', 'bob') })).toEqual(['3']);
    expect(tree.describe().map((group) => group.path)).toEqual([
      'root',
      'root.shared',
      'root.acme',
      'root.acme.ann%2Elee',
      'root.acme.bob',
    ]);
    for (const id of ['1', '2', '3']) tree.leave(id);
    expect(tree.describe().map((group) => group.path)).toEqual(['root', 'root.shared']);
  });

  test('a tenant sees its own groups and those that its rules reach', () => {
    const tree = treeOf(yaml);
    submit(tree, ['1'], '', { steps: of('a', 'ann') });
    const other = {
      id: '2',
      tenant: 'b',
      path: of('b', 'bob'),
      workClass: 'batch',
      priority: 1,
      memoryLimitBytes: 1,
    } as const;
    tree.submit(other);
    expect(visibleTo('a', tree.describe(), rules).map((group) => group.path)).toEqual([
      'root',
      'root.shared',
      'root.a',
      'root.a.ann',
    ]);
    expect(visibleTo('b', tree.describe(), rules.slice(1)).map((group) => group.path)).toEqual([
      'root',
      'root.b',
      'root.b.bob',
    ]);
  });
});

describe('a path names one group', () => {
  const yaml = `
    resource_groups: [{name: root, groups: [{name: "\${SOURCE}", groups: [{name: "\${USER}"}]}, {name: etl, hard_concurrency_limit: 1}]}]
    routing_rules: [{match_tenant: a, target_group: root.etl}, {target_group: "root.\${SOURCE}.\${USER}"}]`;
  const { rules } = readWorkload(yaml, 'w.yaml');
  const of = (source: string): readonly PathStep[] =>
    route(rules, { tenant: 'b', principal: 'id', username: 'bob', source, resourcePool: '', queryType: 'select' }).path;
  const pathsOf = (tree: GroupTree): readonly string[] => tree.describe().map((group) => group.path);

  test('a template that gives the name of a group beside it is that group, also after a reload', () => {
    const tree = treeOf(yaml);
    expect(submit(tree, ['1'], 'root.etl')).toEqual(['1']);
    expect(submit(tree, ['2'], '', { steps: of('etl') })).toEqual([]);
    expect(submit(tree, ['3'], '', { steps: of('web') })).toEqual(['3']);
    expect(printReason(must(tree.waitReason('2'), 'it waits'))).toBe('root.etl runs 1 of 1');
    tree.reconfigure(readWorkload(yaml, 'w.yaml'));
    expect(pathsOf(tree)).toEqual(['root', 'root.etl', 'root.web', 'root.web.bob']);
    // The template is gone, the group is still there.
    tree.reconfigure(
      readWorkload('resource_groups: [{name: root, groups: [{name: etl, hard_concurrency_limit: 1}]}]', 'w.yaml'),
    );
    expect([tree.groupPath('2'), tree.leave('1')]).toEqual(['root.etl', ['2']]);
  });

  test('it is seen by whom the template sends there', () => {
    const seen = (tenant: string, from: readonly RoutingRule[]): readonly string[] =>
      visibleTo(tenant, treeOf(yaml).describe(), from).map((group) => group.path);
    expect(seen('b', rules)).toEqual(['root', 'root.etl']);
    const byTenant = readWorkload(
      'resource_groups: [{name: root, groups: [{name: "${TENANT}"}]}]\nrouting_rules: [{target_group: "root.${TENANT}"}]',
      'w.yaml',
    ).rules;
    expect([seen('etl', byTenant), seen('b', byTenant)]).toEqual([['root', 'root.etl'], ['root']]);
  });

  test('groups of two templates stay apart, and those of names that are cut', () => {
    const tree = treeOf('resource_groups: [{name: root, groups: [{name: "${USER}"}, {name: "s-${SOURCE}"}]}]');
    const steps = (spec: string, name: string): readonly PathStep[] => [...path('root'), { spec, name }];
    const long = 'x'.repeat(100);
    submit(tree, ['1'], '', { steps: steps('${USER}', 's-a') });
    submit(tree, ['2'], '', { steps: steps('s-${SOURCE}', 's-a') });
    submit(tree, ['3'], '', { steps: steps('${USER}', long) });
    submit(tree, ['4'], '', { steps: steps('${USER}', `${long}y`) });
    submit(tree, ['5'], '', { steps: steps('${USER}', `${long}z`) });
    const [, one, two, whole, ...cut] = pathsOf(tree);
    expect([one, two, whole]).toEqual(['root.s-a', 'root.s-a:2', `root.${long}`]);
    expect(cut).toHaveLength(2);
    expect(new Set(cut).size).toBe(2);
    for (const name of cut) expect(name).toMatch(/^root\.x{83}:[0-9a-f]{16}$/);
    for (const id of ['1', '2', '3', '4', '5']) tree.leave(id);
    expect(pathsOf(tree)).toEqual(['root']);
  });
});

describe('another file', () => {
  test('queries of a group that vanished move in their order to the nearest ancestor, and running ones count there', () => {
    const tree = treeOf(`
      resource_groups: [{name: root, groups: [{name: a, hard_concurrency_limit: 1, groups: [{name: x}, {name: y}]}]}]`);
    submit(tree, ['1', '2'], 'root.a.x');
    submit(tree, ['3'], 'root.a');
    submit(tree, ['4'], 'root.a.y');
    submit(tree, ['5'], 'root.a.x');
    const next =
      'resource_groups: [{name: root, max_queued_queries: 1, groups: [{name: a, hard_concurrency_limit: 1, groups: [{name: y}]}]}]';
    expect(tree.reconfigure(readWorkload(next, 'w.yaml'))).toEqual([]);
    expect(tree.describe().map(({ path: name, running, queued }) => [name, running, queued])).toEqual([
      ['root', 1, 4],
      ['root.a', 1, 4],
      ['root.a.y', 0, 1],
    ]);
    expect([tree.queuePosition('2'), tree.queuePosition('3'), tree.queuePosition('5')]).toEqual([1, 2, 3]);
    expect(tree.reconfigure(readWorkload('resource_groups: [{name: root}]', 'w.yaml'))).toEqual(['2', '3', '4', '5']);
  });

  test('CPU counters stay', () => {
    const yaml = 'resource_groups: [{name: root, groups: [{name: a, soft_cpu_limit_ms: 10}]}]';
    const tree = treeOf(yaml);
    submit(tree, ['1'], 'root.a');
    tree.charge('1', 100);
    tree.reconfigure(readWorkload(yaml, 'w.yaml'));
    expect(tree.describe().map(({ cpuTimeMs, effectiveConcurrency: most }) => [cpuTimeMs, most])).toEqual([
      [100, 100],
      [100, 1],
    ]);
  });
});
