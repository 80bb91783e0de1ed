import type { TaskSpec } from '#shared/task/task.ts';
import type { Config } from '#shared/config/config-schema.ts';
import type { Classification } from '../workload/classify.ts';

/**
 * Rows that a query is expected to read, from which on its profile has DuckDB's operators: to collect and read them takes a task one or two
 * milliseconds, a twelfth of a query that reads a million rows.
 */
const PROFILED_ROWS_MIN = 4_000_000;

/** The length of a statement's profile; 0 = none is kept. */
export const profileBytesMax = ({ config }: { readonly config: Config }): number =>
  config['coordinator.history'] === 'off' ? 0 : config['coordinator.profile_bytes_max'];

/** Whether the tasks of a classified query tell their operators. */
export function taskProfile(
  services: { readonly config: Config },
  { classification }: { readonly classification: Classification | null },
): TaskSpec['profile'] {
  if (profileBytesMax(services) === 0 || classification === null) return 'none';
  const isLarge = classification.workClass === 'batch' || classification.estimatedRows >= PROFILED_ROWS_MIN;
  return isLarge ? 'operators' : 'none';
}
