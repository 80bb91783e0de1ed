import type { Config, ConfigKey } from '#shared/config/config-schema.ts';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { WORKER_MEMORY_MIN } from '#shared/config/machine-memory.ts';

/** Part of the machine's memory for all processes of `skein up`. */
const SHARE = 0.6;
/** Of the machine's memory, for the catalog, the coordinator, Postgres and the launcher; the rest of `SHARE` is for workers and planners. */
const SERVICES_SHARE = 0.1;
/** What these take at least: half a gigabyte when nothing runs, and their smallest caches. */
const SERVICES_BYTES_MIN = 768 * 2 ** 20;
/** Of what is for workers and planners, the part of the planners. */
const PLANNERS_SHARE = 0.15;
/** Of a worker's part, what DuckDB counts: the rest is for the process itself and for what DuckDB does not count. */
const COUNTED_SHARE = 5 / 8;
/** A planner with less than this could plan very little. */
const PLANNER_BYTES_MIN = 256 * 2 ** 20;
/** A worker's process with less than this beyond its limit would be ended for its own code and caches. */
const HEADROOM_BYTES_MIN = 256 * 2 ** 20;

/** Up to this size of a machine, the services' caches and bodies have their defaults in proportion to it. */
const FULL_BYTES = 8 * 2 ** 30;
/** Least part of a default: a service with less could read few tables. */
const PART_MIN = 1 / 4;
/** What the catalog and the coordinator keep, and what they read and answer at once. */
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
 * The limits of memory of each process under `skein up`, so that all together stay under 60 % of `machineBytes` whatever runs: workers and
 * planners have half of it, less on a machine whose tenth is not enough for the others. What an operator has set stays as it is. Below
 * `UP_MEMORY_MIN` every process gets the least that it runs with, and all together may use more than that share.
 */
export function divideMemory({ config, sources }: LoadedConfig, machineBytes: number): Partial<Config> {
  const servicesBytes = Math.max(SERVICES_BYTES_MIN, machineBytes * SERVICES_SHARE);
  const enginesBytes = machineBytes * SHARE - servicesBytes;
  const planners = config['planner.processes'];
  const plannerShare = Math.floor((enginesBytes * PLANNERS_SHARE) / planners);
  const plannerBytes = Math.min(config['planner.memory_limit'], Math.max(PLANNER_BYTES_MIN, plannerShare));
  // The default part of one worker is for at most two.
  const workerBytes = Math.floor((enginesBytes - plannerBytes * planners) / Math.max(2, config['up.workers']));
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

/** A tenant has half of the memory for bodies: it has to be enough for the largest one. */
const LARGEST: Partial<Record<ConfigKey, 'catalog.body_bytes_max' | 'coordinator.body_bytes_max'>> = {
  'catalog.bodies_bytes_max': 'catalog.body_bytes_max',
  'coordinator.bodies_bytes_max': 'coordinator.body_bytes_max',
};

function partOf(config: Config, key: (typeof SERVICE_KEYS)[number], part: number): number {
  const largest = LARGEST[key];
  const least = largest === undefined ? 0 : 2 * config[largest];
  return Math.max(Math.floor(config[key] * part), least);
}

/** Least memory of a machine on which `skein up` keeps its share with the settings that it has when none is set. */
const UP_MEMORY_MIN = 4 * 2 ** 30;

/** What is to be said of a machine with less; undefined for others. */
export const smallMachine = (machineBytes: number): string | undefined =>
  machineBytes >= UP_MEMORY_MIN
    ? undefined
    : `${(machineBytes / 2 ** 30).toFixed(1)} GiB of memory: with less than ${UP_MEMORY_MIN / 2 ** 30} GiB all processes together may use more than ${SHARE * 100} % of it`;
