import type { TaskSpec } from '#shared/task/task.ts';
import { needsJoinOrder } from '#shared/sql/unsound-optimizers.ts';
import type { TaskInstance } from '../duckdb/instance-pool.ts';
import { unsoundFor } from './unsound-for.ts';
import { loadRules } from './write-files.ts';

/** Prepares an instance for the text of a task. */
export function configureInstance(
  instance: TaskInstance,
  spec: TaskSpec,
  { memoryBytes, threads }: { readonly memoryBytes: number; readonly threads: number },
): void {
  const { spillLimitBytes: spillBytes, context, profile, keepJoinOrder, bounds } = spec;
  const load = loadRules(spec);
  const texts = load === undefined ? spec.sql : load.guarded;
  instance.configure({
    memoryBytes,
    spillBytes,
    threads,
    context,
    profile: load !== undefined && profile === 'none' ? 'operators' : profile,
    keepJoinOrder:
      keepJoinOrder && !needsJoinOrder(texts.map((part) => (typeof part === 'string' ? part : ' ')).join('')),
    unsound: unsoundFor(texts, spec.scans),
    bounds,
  });
}
