import type { Config, ConfigKey } from '#shared/config/config-schema.ts';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { WORKER_MEMORY_MIN } from '#shared/config/machine-memory.ts';

/** Share of the machine's memory for all processes of `skein up`. */
const SHARE = 0.6;
/** Share of the machine's memory for catalog, coordinator, Postgres and launcher; the rest of `SHARE` is for workers and planners. */
const SERVICES_SHARE = 0.1;
/** Minimum memory of these services: half a gigabyte when idle, and their smallest caches. */
const SERVICES_BYTES_MIN = 768 * 2 ** 20;
/** The planners' share of the memory for workers and planners. */
const PLANNERS_SHARE = 0.15;
/** The share of a worker's memory that DuckDB counts: the rest is for the process itself and for memory that DuckDB does not count. */
const COUNTED_SHARE = 5 / 8;
/** Minimum memory of a planner: with less it could plan very little. */
const PLANNER_BYTES_MIN = 256 * 2 ** 20;
/** Minimum headroom of a worker process beyond its limit: with less it would be killed for its own code and caches. */
const HEADROOM_BYTES_MIN = 256 * 2 ** 20;

/** Below this machine size the services' cache and body limits are scaled down in proportion. */
const FULL_BYTES = 8 * 2 ** 30;
/** Smallest fraction of a default: a service with less could read few tables. */
const PART_MIN = 1 / 4;
/** Keys of the catalog's and coordinator's limits for caches, and for concurrent requests and responses. */
const SERVICE_KEYS = [
  'catalog.bodies_bytes_max',
  'catalog.answers_bytes_max',
  'catalog.manifest_cache_bytes',
  'catalog.plan_bytes_max',
  'catalog.plan_bytes_kept_max',
  'reader.heap_limit',
  'reader.file_memory',
  'coordinator.bodies_bytes_max',
  'coordinator.metadata_cache_bytes',
  'coordinator.file_list_bytes_max',
  'coordinator.file_lists_bytes_max',
] as const satisfies readonly ConfigKey[];

/**
 * Computes the memory limits of each process under `skein up`, so that all together stay under 60 % of `machineBytes` at any load. Workers
 * and planners get 50 % of it, or less where 10 % is not enough for the other services. Settings of the operator are kept. Below
 * `UP_MEMORY_MIN` every process gets the minimum that it can run with, and the total may exceed that share.
 */
export function divideMemory({ config, sources }: LoadedConfig, machineBytes: number): Partial<Config> {
  const servicesBytes = Math.max(SERVICES_BYTES_MIN, machineBytes * SERVICES_SHARE);
  const enginesBytes = machineBytes * SHARE - servicesBytes;
  const planners = config['planner.processes'];
  const plannerShare = Math.floor((enginesBytes * PLANNERS_SHARE) / planners);
  const plannerBytes = Math.min(config['planner.memory_limit'], Math.max(PLANNER_BYTES_MIN, plannerShare));
  const workerBytes = Math.floor((enginesBytes - plannerBytes * planners) / config['up.workers']);
  const countedMax = Math.min(Math.floor(workerBytes * COUNTED_SHARE), workerBytes - HEADROOM_BYTES_MIN);
  const countedBytes = Math.max(WORKER_MEMORY_MIN, countedMax);
  const headroomBytes = Math.max(HEADROOM_BYTES_MIN, workerBytes - countedBytes);
  const part = Math.min(1, Math.max(PART_MIN, machineBytes / FULL_BYTES));
  const shares: Partial<Config> = {
    'worker.memory_limit': countedBytes,
    'worker.process_headroom': Math.min(config['worker.process_headroom'], headroomBytes),
    'planner.memory_limit': plannerBytes,
    ...Object.fromEntries(SERVICE_KEYS.map((key) => [key, partOf(config, key, part)])),
  };
  const keys = Object.keys(shares) as (keyof Config)[];
  return Object.fromEntries(keys.map((key) => [key, sources[key] === 'default' ? shares[key] : config[key]]));
}

/** Limits that must be at least twice the largest body, because a tenant may use half of the memory for bodies. */
const LARGEST: Partial<Record<ConfigKey, 'catalog.body_bytes_max' | 'coordinator.body_bytes_max'>> = {
  'catalog.bodies_bytes_max': 'catalog.body_bytes_max',
  'coordinator.bodies_bytes_max': 'coordinator.body_bytes_max',
};

function partOf(config: Config, key: (typeof SERVICE_KEYS)[number], part: number): number {
  const largest = LARGEST[key];
  const least = largest === undefined ? 0 : 2 * config[largest];
  return Math.max(Math.floor(config[key] * part), least);
}

/** Smallest machine memory with which `skein up` stays within its share under default settings. */
const UP_MEMORY_MIN = 4 * 2 ** 30;

/** A warning for a machine with less memory than `UP_MEMORY_MIN`; undefined for others. */
export const smallMachine = (machineBytes: number): string | undefined =>
  machineBytes >= UP_MEMORY_MIN
    ? undefined
    : `${(machineBytes / 2 ** 30).toFixed(1)} GiB of memory: with less than ${UP_MEMORY_MIN / 2 ** 30} GiB all processes together may use more than ${SHARE * 100} % of it`;
