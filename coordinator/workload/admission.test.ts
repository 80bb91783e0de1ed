import { afterEach, describe, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { GroupAdmission, type AdmissionRequest, type Place, type Routed } from './admission.ts';
import type { Classification } from './classify.ts';
import { readWorkload } from './read-workload.ts';

const never = new AbortController().signal;
const MEMORY = { reservations: { interactive: 1, medium: 2, batch: 4 }, interactiveShare: 0.25 };
const clock = { nowMs: () => 0, monotonicMs: () => 1 };
const opened: GroupAdmission[] = [];

const open = (yaml: string, { memory = MEMORY, totalBytes = 0 } = {}): GroupAdmission => {
  const workload = readWorkload(yaml, 'w.yaml');
  const admission = new GroupAdmission({ workload, memory, memoryBytes: () => totalBytes, clock });
  opened.push(admission);
  return admission;
};
afterEach(() => {
  for (const admission of opened.splice(0)) admission[Symbol.dispose]();
});

const SMALL: Classification = { workClass: 'interactive', reasons: [], estimatedRows: 10, isSet: false };

const asking = (changes: Partial<AdmissionRequest> = {}, username = 'u'): AdmissionRequest => ({
  statement: { tenant: 'a', principal: 'p', username, source: null, resourcePool: '', queryType: 'select' },
  classification: SMALL,
  memoryLimitBytes: 1_000,
  signal: never,
  onRouted: () => undefined,
  onReclassified: () => undefined,
  ...changes,
});

const NARROW = 'resource_groups: [{name: root, hard_concurrency_limit: 1, max_queued_queries: 2}]';

test('queries wait in order for a place, and more than the queue holds are refused', async () => {
  const admission = open(NARROW);
  const first = await admission.admit(asking());
  const order: number[] = [];
  const wait = async (i: number): Promise<Place> => {
    const place = await admission.admit(asking());
    order.push(i);
    return place;
  };
  const second = wait(2);
  const third = wait(3);
  await expect(admission.admit(asking())).rejects.toMatchObject({ code: 'QUEUE_FULL' });
  expect(first.hasWaited).toBe(false);
  first.release();
  first.release();
  expect((await second).hasWaited).toBe(true);
  (await second).release();
  (await third).release();
  expect(order).toEqual([2, 3]);
  expect([admission.running, admission.queued]).toEqual([0, 0]);
});

test('a query that is cancelled while it waits leaves the queue', async () => {
  const admission = open(NARROW);
  const first = await admission.admit(asking());
  const cancel = new AbortController();
  let routed: Routed | undefined;
  const waiting = admission.admit(asking({ signal: cancel.signal, onRouted: (to) => (routed = to) }));
  expect(routed?.waiting()).toEqual({ position: 1, reason: 'root runs 1 of 1', resourceGroup: '/root' });
  cancel.abort(new SkeinError('QUERY_CANCELLED', 'by the user'));
  await expect(waiting).rejects.toMatchObject({ code: 'QUERY_CANCELLED' });
  expect([admission.queued, routed?.waiting()]).toEqual([0, null]);
  first.release();
  expect(admission.running).toBe(0);
});

test('another workload lets waiting queries run', async () => {
  const admission = open(NARROW);
  await admission.admit(asking());
  const waiting = admission.admit(asking());
  admission.reconfigure(readWorkload('resource_groups: [{name: root}]', 'w.yaml'));
  expect((await waiting).hasWaited).toBe(true);
});

test('a query of a group that vanishes waits in its nearest ancestor, and starts there; one that is refused names its own group', async () => {
  const rules = 'routing_rules: [{target_group: root.etl}]';
  const groups = '[{name: root, groups: [{name: etl, hard_concurrency_limit: 1, max_queued_queries: 1}]}]';
  const admission = open(`resource_groups: ${groups}\n${rules}`);
  const first = await admission.admit(asking());
  expect(first.resourceGroup).toBe('/root/etl');
  const routed: Routed[] = [];
  const onRouted = (to: Routed): void => void routed.push(to);
  const waiting = admission.admit(asking({ onRouted }));
  await expect(admission.admit(asking({ onRouted }))).rejects.toMatchObject({ code: 'QUEUE_FULL' });
  expect(routed.map(({ resourceGroup }) => resourceGroup)).toEqual(['/root/etl', '/root/etl']);
  expect(routed[0]?.waiting()).toMatchObject({ resourceGroup: '/root/etl', reason: 'root.etl runs 1 of 1' });
  admission.reconfigure(readWorkload('resource_groups: [{name: root, hard_concurrency_limit: 1}]', 'w.yaml'));
  expect(routed[0]?.waiting()).toEqual({ position: 1, reason: 'root runs 1 of 1', resourceGroup: '/root' });
  first.release();
  expect((await waiting).resourceGroup).toBe('/root');
});

test('a rule gives the priority, and a query that outgrows its class gets the limits of another, once', async () => {
  const admission = open('routing_rules: [{match_user: vip, target_group: root, priority: 4}]');
  const changes: unknown[] = [];
  const onReclassified: AdmissionRequest['onReclassified'] = ({ classification, priority, limits }) =>
    changes.push([classification.workClass, priority, limits.timeoutMs]);
  const place = await admission.admit(asking({ onReclassified }));
  expect([place.priority, place.limits.timeoutMs]).toEqual([3, 30_000]);
  place.worked({ rows: 5_000, scheduledMs: 9_000 });
  expect(changes).toEqual([]);
  place.worked({ rows: 0, scheduledMs: 1_000 });
  place.worked({ rows: 0, scheduledMs: 1_000 });
  expect(changes).toEqual([['medium', 2, 180_000]]);
  const vip = await admission.admit(asking({}, 'vip'));
  vip.worked({ rows: 0, scheduledMs: 10_000 });
  expect(vip.priority).toBe(4);
});

describe('another file with other classes', () => {
  const classes = (interactive: string, medium: string): string => `${NARROW}
classes: {interactive: ${interactive}, medium: ${medium}}`;
  const OLD = classes('{timeout: 9s, memory: 1GB}', '{timeout: 90s, memory: 2GB}');
  const NEW = classes('{timeout: 5s, memory: 100MB}', '{timeout: 50s, memory: 300MB}');
  const memory = { reservations: { interactive: 1e9, medium: 1e9, batch: 1e9 }, interactiveShare: 0.25 };
  const large = asking({ memoryLimitBytes: 10e9 });

  test('gives a query that waits its limits: timeout, reservation and the most memory', async () => {
    const admission = open(OLD, { memory, totalBytes: 100e9 });
    const first = await admission.admit(large);
    const waiting = admission.admit(large);
    const small = admission.admit(asking({ memoryLimitBytes: 50e6 }));
    admission.reconfigure(readWorkload(NEW, 'w.yaml'));
    // A query that runs keeps the limits that it began with.
    expect([first.limits, first.grow(10e9)]).toEqual([{ timeoutMs: 9_000, memoryBytes: 1e9 }, 1e9]);
    first.release();
    const second = await waiting;
    expect(second.limits).toEqual({ timeoutMs: 5_000, memoryBytes: 100e6 });
    expect([admission.memory.heldBytes, second.grow(10e9)]).toEqual([100e6, 100e6]);
    second.release();
    // The session allows less than the class.
    expect((await small).grow(10e9)).toBe(50e6);
  });

  test('gives a query that outgrows its class the limits of the new file, with no timeout beyond that of its tasks', async () => {
    const admission = open(OLD, { memory, totalBytes: 100e9 });
    const changes: unknown[] = [];
    const place = await admission.admit({ ...large, onReclassified: ({ limits }) => changes.push(limits) });
    admission.reconfigure(readWorkload(NEW, 'w.yaml'));
    expect(place.limits).toEqual({ timeoutMs: 9_000, memoryBytes: 1e9 });
    place.worked({ rows: 0, scheduledMs: 10_000 });
    const limits = { timeoutMs: 50_000, memoryBytes: 300e6 };
    expect([place.limits, changes]).toEqual([limits, [limits]]);
    expect(place.grow(10e9)).toBe(1e9);
    admission.reconfigure(readWorkload(NARROW, 'w.yaml'));
    place.worked({ rows: 0, scheduledMs: 90_000 });
    expect([place.workClass, place.limits, place.timeoutMsMax]).toEqual([
      'batch',
      { timeoutMs: 600_000, memoryBytes: 8e9 },
      600_000,
    ]);
    expect(place.grow(10e9)).toBe(8e9);
  });
});

describe('the example that is shipped', () => {
  test('keeps tenants and users apart: one that asks without end leaves places, and a place in the queue, for another', async () => {
    const { readFileSync } = await import('node:fs');
    const admission = open(readFileSync(new URL('../../workload.example.yaml', import.meta.url), 'utf8'));
    const of = (tenant: string, username: string): AdmissionRequest => {
      const request = asking({}, username);
      return { ...request, statement: { ...request.statement, tenant } };
    };
    const greedy = Array.from({ length: 600 }, (_, i) => admission.admit(of('greedy', `u${i % 3}`)));
    const refused = await Promise.allSettled(greedy.slice(-10));
    expect(refused.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 'rejected'));
    for (const one of greedy) one.catch(() => undefined);
    expect(admission.running).toBe(87);
    const places = await Promise.all(Array.from({ length: 13 }, () => admission.admit(of('modest', 'v'))));
    expect(places.map(({ hasWaited }) => hasWaited)).not.toContain(true);
    // The next place that a greedy query leaves goes to the tenant with the fewest.
    const next = admission.admit(of('third', 'w'));
    (await greedy[0])?.release();
    expect((await next).hasWaited).toBe(true);
  });
});

test('a statement that takes no place is told its group, which is not made for it', () => {
  const admission = open(`
    resource_groups: [{name: root, groups: [{name: '\${USER}'}]}]
    routing_rules: [{match_query_type: ddl, target_group: 'root.\${USER}', priority: 4}]`);
  const { statement } = asking({}, 'ann.b');
  const before = admission.describe();
  expect(admission.route({ ...statement, queryType: 'ddl' })).toEqual({ resourceGroup: '/root/ann%2Eb', priority: 4 });
  expect(admission.route(statement)).toEqual({ resourceGroup: '/root', priority: null });
  expect(admission.describe()).toEqual(before);
});
