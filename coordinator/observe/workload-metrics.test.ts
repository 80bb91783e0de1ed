import { Registry } from 'prom-client';
import { afterEach, describe, expect, test } from 'vitest';
import { GroupAdmission, type Place } from '../workload/admission.ts';
import { readWorkload } from '../workload/read-workload.ts';
import { workloadMetrics, type WorkloadSources } from './workload-metrics.ts';

const WORKLOAD = `
resource_groups:
  - name: root
    groups:
      - {name: etl, hard_concurrency_limit: 1, max_queued_queries: 5}
      - {name: "\${TENANT}", groups: [{name: "\${USER}"}]}
routing_rules:
  - {match_source: etl, target_group: root.etl}
  - {target_group: "root.\${TENANT}.\${USER}"}
`;

const opened: GroupAdmission[] = [];
afterEach(() => {
  for (const admission of opened.splice(0)) admission[Symbol.dispose]();
});

function open(yaml: string): GroupAdmission {
  const admission = new GroupAdmission({
    workload: readWorkload(yaml, 'w.yaml'),
    memory: { reservations: { interactive: 10, medium: 20, batch: 40 }, interactiveShare: 0.25 },
    memoryBytes: () => 1_000_000,
    clock: { nowMs: () => 0, monotonicMs: () => 1 },
  });
  opened.push(admission);
  return admission;
}

const admit = (admission: GroupAdmission, tenant: string, source: string | null = null): Promise<Place> =>
  admission.admit({
    statement: { tenant, principal: 'p', username: 'secret_user', source, resourcePool: '', queryType: 'select' },
    classification: {
      workClass: source === null ? 'interactive' : 'batch',
      reasons: [],
      estimatedRows: 1,
      isSet: false,
    },
    memoryLimitBytes: 1_000,
    signal: new AbortController().signal,
    onRouted: () => undefined,
    onReclassified: () => undefined,
  });

/** The values of a page by name and labels. */
async function scrape(sources: WorkloadSources | undefined): Promise<Readonly<Record<string, number>>> {
  const registry = new Registry();
  workloadMetrics(registry, () => sources);
  const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('skein_'));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

describe('metrics of the workload', () => {
  test('count queries, memory and CPU time by group and class, and name no tenant and no user', async () => {
    const admission = open(WORKLOAD);
    const places = await Promise.all([
      admit(admission, 'acme'),
      admit(admission, 'rival'),
      admit(admission, 'acme', 'etl'),
    ]);
    places[2]?.worked({ rows: 0, scheduledMs: 2_500 });
    const waiting = admit(admission, 'acme', 'etl');
    const page = await scrape({ admission, events: { size: 3 } });
    const group = (name: string, path: string): number | undefined => page[`skein_group_${name}{group="${path}"}`];
    expect([group('queries_running', 'root'), group('queries_queued', 'root')]).toEqual([3, 1]);
    expect([group('queries_running', 'root.etl'), group('queries_queued', 'root.etl')]).toEqual([1, 1]);
    expect(group('queries_running', 'root.${TENANT}.${USER}')).toBe(2);
    expect([group('memory_bytes', 'root'), group('memory_bytes', 'root.${TENANT}')]).toEqual([60, 20]);
    expect([group('concurrency_limit', 'root.etl'), group('queue_limit', 'root.etl')]).toEqual([1, 5]);
    expect(group('concurrency_limit', 'root.${TENANT}')).toBeUndefined();
    expect([group('cpu_seconds_total', 'root'), group('cpu_seconds_total', 'root.etl')]).toEqual([2.5, 2.5]);
    expect(page).toMatchObject({
      'skein_class_queries_running{workload_class="interactive"}': 2,
      'skein_class_queries_running{workload_class="batch"}': 1,
      'skein_class_queries_queued{workload_class="batch"}': 1,
      'skein_class_queries_queued{workload_class="medium"}': 0,
      skein_memory_held_bytes: 60,
      skein_memory_limit_bytes: 1_000_000,
      skein_event_streams: 3,
    });
    expect(Object.keys(page).filter((name) => /acme|rival|secret/.test(name))).toEqual([]);
    for (const place of places) place.release();
    (await waiting).release();
  });

  test('have a limit of labels', async () => {
    const names = Array.from({ length: 300 }, (_group, i) => `{name: g${i}}`);
    const page = await scrape({
      admission: open(`resource_groups: [{name: root, groups: [${names.join()}]}]`),
      events: { size: 0 },
    });
    const running = Object.keys(page).filter((name) => name.startsWith('skein_group_queries_running'));
    expect(running.length).toBe(200);
  });

  test('of a standby are 0, and have no groups', async () => {
    const page = await scrape(undefined);
    expect(Object.values(page).every((value) => value === 0)).toBe(true);
    expect(Object.keys(page).filter((name) => name.includes('group'))).toEqual([]);
  });
});
