import { describe, expect, test } from 'vitest';
import { readWorkload } from './read-workload.ts';
import { DEFAULT_WORKLOAD } from './workload.ts';

const read = (text: string): ReturnType<typeof readWorkload> => readWorkload(text, 'workload.yaml');

const failure = (text: string): string => {
  try {
    read(text);
  } catch (error) {
    return (error as Error).message;
  }
  return 'it was accepted';
};

describe('a workload file', () => {
  test('every property by the specification’s name', () => {
    const { root, rules, classes, mlfq, cpuQuotaPeriodMs } = read(`
cpu_quota_period: 1h
resource_groups:
  - name: root
    hard_concurrency_limit: 50
    soft_concurrency_limit: 40
    max_queued_queries: 5000
    soft_memory_limit_bytes: 1000000
    soft_cpu_limit_ms: 10
    hard_cpu_limit_ms: 20
    scheduling_policy: weighted
    scheduling_weight: 7
    groups:
      - name: etl
      - name: \${USER}
routing_rules:
  - {match_tenant: t, match_user: u, match_source: s, match_resource_pool: p, match_query_type: insert, target_group: root.etl, priority: 0}
  - target_group: root.\${USER}
classes:
  batch: {timeout: 2h}
mlfq: {levels_ms: [1, 2, 3, 4], level_weight_ratio: 3}
`);
    expect(root).toMatchObject({
      hardConcurrencyLimit: 50,
      softConcurrencyLimit: 40,
      maxQueuedQueries: 5_000,
      softMemoryLimitBytes: 1_000_000,
      softCpuLimitMs: 10,
      hardCpuLimitMs: 20,
      schedulingPolicy: 'weighted',
      schedulingWeight: 7,
    });
    expect(root.groups.map(({ name }) => name)).toEqual(['etl', '${USER}']);
    expect(rules[0]).toEqual({
      tenant: 't',
      user: 'u',
      source: 's',
      resourcePool: 'p',
      queryType: 'insert',
      target: ['root', 'etl'],
      priority: 0,
    });
    expect(classes.batch).toEqual({ timeoutMs: 7_200_000, memoryBytes: 8e9 });
    expect(classes.medium).toEqual(DEFAULT_WORKLOAD.classes.medium);
    expect(mlfq).toEqual({ levelsMs: [1, 2, 3, 4], levelWeightRatio: 3 });
    expect(cpuQuotaPeriodMs).toBe(3_600_000);
  });

  test('an empty file means root alone', () => {
    expect(read('')).toEqual(DEFAULT_WORKLOAD);
    expect(read('# nothing\n')).toEqual(DEFAULT_WORKLOAD);
  });

  test('a group has room for 100 queries, softly for 100, and a queue of 1000 by default', () => {
    const { root } = read('resource_groups: [{name: root, groups: [{name: etl}]}]');
    for (const group of [root, ...root.groups])
      expect(group).toMatchObject({ hardConcurrencyLimit: 100, softConcurrencyLimit: 100, maxQueuedQueries: 1_000 });
  });

  test.each([
    ['hard_concurrency_limit', 'hardConcurrencyLimit', 100],
    ['soft_concurrency_limit', 'softConcurrencyLimit', 100],
    ['max_queued_queries', 'maxQueuedQueries', 1_000],
    ['soft_memory_limit_bytes', 'softMemoryLimitBytes', null],
    ['soft_cpu_limit_ms', 'softCpuLimitMs', null],
    ['hard_cpu_limit_ms', 'hardCpuLimitMs', null],
    ['scheduling_policy', 'schedulingPolicy', 'fair'],
    ['scheduling_weight', 'schedulingWeight', 1],
  ] as const)('a group without %s has the default', (_name, key, expected) => {
    const { root } = read('resource_groups: [{name: root, groups: [{name: etl}]}]');
    expect([root, ...root.groups, read('').root].map((group) => group[key])).toEqual([expected, expected, expected]);
  });

  test.each([
    ['interactive', 30_000, 1e9],
    ['medium', 180_000, 4e9],
    ['batch', 600_000, 8e9],
  ] as const)('a class has its limits by default: %s', (name, timeoutMs, memoryBytes) => {
    expect(read('').classes[name]).toEqual({ timeoutMs, memoryBytes });
  });

  test.each([
    ['resource_group: []', '1:1: unknown key "resource_group"'],
    ['resource_groups:\n  - name: root\n    hard_limit: 3', '3:5: unknown key "hard_limit"'],
    ['resource_groups: [{name: top}]', '1:19: the first group must have the name root'],
    ['resource_groups: [{name: root}, {name: b}]', '1:33: expected one group'],
    ['resource_groups: [{name: root, hard_concurrency_limit: many}]', '1:56: expected a number'],
    ['resource_groups: [{name: root, hard_concurrency_limit: 1.5}]', '1:56: expected an integer'],
    ['resource_groups: [{name: root, hard_concurrency_limit: 0}]', '1:56: expected a number from 1'],
    ['resource_groups: [{name: root, scheduling_policy: fifo}]', '1:51: expected fair, weighted, query_priority'],
    ['resource_groups: [{name: root, soft_cpu_limit_ms: 5, hard_cpu_limit_ms: 4}]', '1:73: hard_cpu_limit_ms is less'],
    ['resource_groups: [{name: root, groups: [{name: a.b}]}]', "1:48: a group's name has letters"],
    ['resource_groups: [{name: root, groups: [{name: "${HOME}"}]}]', "1:48: a group's name"],
    ['resource_groups: [{name: root, groups: [{name: a}, {name: a}]}]', '1:52: the group "root" has two groups'],
    ['resource_groups: [{name: root, name: root}]', '1:32: Map keys must be unique'],
    ['routing_rules: [{target_group: root.b}]', '1:32: there is no group "root.b"'],
    ['routing_rules: [{match_user: u}]', '1:17: the rule has no target_group'],
    ['routing_rules: [{match_query_type: selekt, target_group: root}]', '1:36: expected select'],
    ['routing_rules: [{priority: 5, target_group: root}]', '1:28: expected a number from 0 to 4'],
    ['classes: {batch: {timeout: soon}}', '1:28: expected a duration'],
    ['mlfq: {levels_ms: [1, 1, 2, 3]}', '1:19: expected 4 numbers that rise'],
    ['a: [', '1:5: '],
    ['resource_groups:', '1:1: resource_groups has no value'],
    ['*x', '1:1: '],
  ])('%s is refused with line and column', (text, expected) => {
    expect(failure(text)).toContain(`workload.yaml:${expected}`);
  });

  test('one that nests or repeats without end is refused at once', () => {
    const deep = `resource_groups: [${'{name: a, groups: ['.repeat(200)}${']}'.repeat(200)}]`;
    expect(failure(deep)).toMatch(/nested more than 10 deep|name root/);
    expect(failure(`# ${'x'.repeat(1_000_000)}`)).toContain('more than 1000000 bytes');
  });
});
