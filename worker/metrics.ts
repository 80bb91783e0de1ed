import { exportMemoryUses } from '#shared/memory-uses.ts';
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import { measureTurns } from '#shared/turn-metrics.ts';
import type { TaskRegistry } from './task/task-registry.ts';
import type { DiskCache } from './disk-cache/disk-cache.ts';
import type { MemoryGate } from './slot/memory-gate.ts';
import type { SlotPool } from './slot/slot-pool.ts';
import type { Spool } from './spool/spool.ts';
import type { SpoolStore } from './spool/spooled-output.ts';

/** The worker's Prometheus page. */
export interface Metrics extends Disposable {
  readonly contentType: string;
  text(): Promise<string>;
}

export function createMetrics(parts: {
  readonly pool: SlotPool;
  readonly copies: DiskCache;
  readonly memory: MemoryGate;
  readonly spool: Spool;
  readonly store: SpoolStore;
  readonly tasks: TaskRegistry;
  readonly name: string;
}): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ worker: parts.name });
  collectDefaultMetrics({ register: registry });
  const turns = measureTurns(registry);
  exportMemoryUses(registry);
  const gauge = (name: string, help: string, read: () => number): void => {
    const registered: Gauge = new Gauge({
      name: `skein_worker_${name}`,
      help,
      registers: [registry],
      collect: () => registered.set(read()),
    });
  };
  gauge('tasks', 'Tasks here, spooled ones included', () => parts.tasks.size);
  gauge('tasks_running', 'Tasks on slots, or waiting for one', () => parts.pool.activeTasks);
  gauge('long_quanta', 'Slots with a quantum of more than a second', () => parts.pool.longQuanta);
  gauge('tasks_waiting', 'Tasks that wait for memory', () => parts.memory.waiting);
  gauge('memory_granted_bytes', 'Memory limits of the running tasks, in all', () => parts.memory.grantedBytes);
  gauge(
    'spool_bytes',
    'Output in memory that waits for its readers, and inputs that were fetched',
    () => parts.spool.bytes,
  );
  const levelTasks = new Gauge({
    name: 'skein_worker_level_tasks',
    help: 'Tasks that can run, those that run included, by level of the feedback queue',
    labelNames: ['level'] as const,
    registers: [registry],
    collect: () => parts.pool.levels.tasks.forEach((count, level) => levelTasks.set({ level }, count)),
  });
  const levelSeconds = new Counter({
    name: 'skein_worker_level_seconds_total',
    help: 'Time that tasks have had on slots, by level of the feedback queue',
    labelNames: ['level'] as const,
    registers: [registry],
    collect: () => {
      levelSeconds.reset();
      parts.pool.levels.scheduledMs.forEach((ms, level) => levelSeconds.inc({ level }, ms / 1_000));
    },
  });
  gauge('spool_disk_bytes', 'The same in files', () => parts.store.diskBytes);
  gauge('disk_cache_bytes', 'Copies of data files without compression', () => parts.copies.bytes);
  gauge('disk_cache_files', 'Data files that have such a copy', () => parts.copies.count);
  gauge('disk_cache_waiting', 'Data files that are to be copied', () => parts.copies.waiting);
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    [Symbol.dispose]: () => turns[Symbol.dispose](),
  };
}
