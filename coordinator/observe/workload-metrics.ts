import { Counter, Gauge, type Registry } from 'prom-client';
import type { GroupAdmission } from '../workload/admission.ts';
import type { GroupSnapshot } from '../workload/group-snapshot.ts';
import { noQueries, WORK_CLASSES } from '../workload/work-class.ts';
import type { EventHub } from './event-hub.ts';

/** Sources that the metrics read at every scrape. */
export type WorkloadSources = {
  readonly admission: Pick<GroupAdmission, 'describe' | 'countClasses' | 'memory'>;
  readonly events: Pick<EventHub, 'size'>;
};

/** Labels of groups: those that come later in the file have no metrics, but count in the groups above them. */
const GROUPS_MAX = 200;
/** Time for which a description of the groups is used: all metrics of one scrape have the same. */
const DESCRIBED_MS = 50;

/** Groups that share a label. */
type LabelledGroups = Pick<GroupSnapshot, 'running' | 'queued' | 'memoryBytes'> & {
  readonly label: string;
  /** The group itself when it stands in the file. */
  readonly own: GroupSnapshot | null;
};

/**
 * Metrics of the resource groups and classes; `sources` answers undefined while this coordinator is not the active one. Groups that were
 * made from a template count together under its path as the file spells it, so that no label names a tenant or a user and their number
 * has a limit.
 */
export function workloadMetrics(registry: Registry, sources: Sources): void {
  groupMetrics(registry, sources);
  classMetrics(registry, sources);
  const plain = plainGauges(registry, sources);
  plain(
    'memory_held_bytes',
    'Memory of the workers that running queries hold',
    ({ admission }) => admission.memory.heldBytes,
  );
  plain(
    'memory_limit_bytes',
    'Memory of the workers that queries may hold',
    ({ admission }) => admission.memory.totalBytes,
  );
  plain('event_streams', 'Open streams of events', ({ events }) => events.size);
}

type Sources = () => WorkloadSources | undefined;

function groupMetrics(registry: Registry, sources: Sources): void {
  const registers = [registry];
  let described = { atMs: -Infinity, groups: labelled([]) };
  const groups = (): readonly LabelledGroups[] => {
    const nowMs = performance.now();
    if (nowMs - described.atMs > DESCRIBED_MS)
      described = { atMs: nowMs, groups: labelled(sources()?.admission.describe() ?? []) };
    return described.groups;
  };
  const ofGroups = (name: string, help: string, value: (group: LabelledGroups) => number | null): void => {
    const gauge = new Gauge({
      name: `skein_group_${name}`,
      help,
      labelNames: ['group'] as const,
      registers,
      collect: () => {
        gauge.reset();
        for (const group of groups()) {
          const now = value(group);
          if (now !== null) gauge.set({ group: group.label }, now);
        }
      },
    });
  };
  ofGroups('queries_running', 'Queries that run in the group or below it', ({ running }) => running);
  ofGroups('queries_queued', 'Queries that wait in the group or below it', ({ queued }) => queued);
  ofGroups('memory_bytes', 'Memory that its running queries hold', ({ memoryBytes }) => memoryBytes);
  const limits = (name: string, help: string, value: (group: GroupSnapshot) => number): void =>
    ofGroups(name, `${help}; not of groups made from templates`, ({ own }) => (own === null ? null : value(own)));
  limits('concurrency_limit', 'Queries that may run at once now', (own) => own.effectiveConcurrency);
  limits('queue_limit', 'Most queries that wait', (own) => own.maxQueuedQueries);
  const cpu = new Counter({
    name: 'skein_group_cpu_seconds_total',
    help: 'CPU time of the queries of the group and those below it; not of groups made from templates',
    labelNames: ['group'] as const,
    registers,
    collect: () => {
      cpu.reset();
      for (const { label, own } of groups()) if (own !== null) cpu.inc({ group: label }, own.cpuTimeMs / 1_000);
    },
  });
}

function classMetrics(registry: Registry, sources: Sources): void {
  const registers = [registry];
  for (const state of ['running', 'queued'] as const) {
    const gauge = new Gauge({
      name: `skein_class_queries_${state}`,
      help: `Queries of the class that ${state === 'running' ? 'run' : 'wait for admission'}`,
      labelNames: ['workload_class'] as const,
      registers,
      collect: () => {
        const counts = sources()?.admission.countClasses() ?? noQueries();
        for (const one of WORK_CLASSES) gauge.set({ workload_class: one }, counts[one][state]);
      },
    });
  }
}

/** Makes gauges of one number each. */
const plainGauges =
  (registry: Registry, sources: Sources) =>
  (name: string, help: string, value: (from: WorkloadSources) => number): void => {
    const gauge: Gauge = new Gauge({
      name: `skein_${name}`,
      help,
      registers: [registry],
      collect: () => {
        const from = sources();
        gauge.set(from === undefined ? 0 : value(from));
      },
    });
  };

/** The groups by label. */
function labelled(groups: readonly GroupSnapshot[]): readonly LabelledGroups[] {
  const found = new Map<string, LabelledGroups>();
  for (const group of groups) {
    const label = group.template ?? group.path;
    if (!found.has(label) && found.size >= GROUPS_MAX) continue;
    const before = found.get(label) ?? { running: 0, queued: 0, memoryBytes: 0 };
    found.set(label, {
      label,
      own: group.template === null ? group : null,
      running: before.running + group.running,
      queued: before.queued + group.queued,
      memoryBytes: before.memoryBytes + group.memoryBytes,
    });
  }
  return [...found.values()];
}
