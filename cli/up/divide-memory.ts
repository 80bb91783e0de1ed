import type { Config } from '#shared/config/config-schema.ts';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { WORKER_MEMORY_MIN } from '#shared/config/machine-memory.ts';

/** Part of the machine's memory for workers and planners; all other processes of `skein up` need up to a tenth more. */
const SHARE = 0.5;
/** Of that, for the planners. */
const PLANNERS_SHARE = 0.15;
/** Of a worker's part, what DuckDB counts: the rest is for the process itself and for what DuckDB does not count. */
const COUNTED_SHARE = 5 / 8;
/** A planner with less than this could plan very little. */
const PLANNER_BYTES_MIN = 256 * 2 ** 20;
/** A worker's process with less than this beyond its limit would be ended for its own code and caches. */
const HEADROOM_BYTES_MIN = 256 * 2 ** 20;

/**
 * The limits of memory of each process under `skein up`, so that all together stay under 60 % of `machineBytes` whatever runs: half
 * for workers and planners, the rest for the catalog, the coordinator, Postgres and the launcher. What an operator has set stays as it is.
 * On a machine of less than 3 GiB every process gets the least that it runs with, and all together may use more than that share.
 */
export function divideMemory({ config, sources }: LoadedConfig, machineBytes: number): Partial<Config> {
  const planners = config['planner.processes'];
  const plannerShare = Math.floor((machineBytes * SHARE * PLANNERS_SHARE) / planners);
  const plannerBytes = Math.min(config['planner.memory_limit'], Math.max(PLANNER_BYTES_MIN, plannerShare));
  // The default part of one worker is for at most two.
  const workerBytes = Math.floor((machineBytes * SHARE - plannerBytes * planners) / Math.max(2, config['up.workers']));
  const countedBytes = Math.max(WORKER_MEMORY_MIN, Math.floor(workerBytes * COUNTED_SHARE));
  const headroomBytes = Math.max(HEADROOM_BYTES_MIN, workerBytes - countedBytes);
  const shares = {
    'worker.memory_limit': countedBytes,
    'worker.process_headroom': Math.min(config['worker.process_headroom'], headroomBytes),
    'planner.memory_limit': plannerBytes,
  } as const;
  const keys = Object.keys(shares) as (keyof typeof shares)[];
  return Object.fromEntries(keys.map((key) => [key, sources[key] === 'default' ? shares[key] : config[key]]));
}
