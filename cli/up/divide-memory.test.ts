import { expect, test } from 'vitest';
import { checkConfig } from '#shared/config/check-config.ts';
import { defaultConfig, type Config, type ConfigKey } from '#shared/config/config-schema.ts';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { WORKER_MEMORY_MIN } from '#shared/config/machine-memory.ts';
import { must } from '#shared/must.ts';
import { divideMemory, smallMachine } from './divide-memory.ts';

const GIB = 2 ** 30;

function loaded(own: Partial<Config> = {}): LoadedConfig {
  const config = defaultConfig(own);
  const keys = Object.keys(config) as ConfigKey[];
  const sources = Object.fromEntries(keys.map((key) => [key, own[key] === undefined ? 'default' : 'flag']));
  return { config, sources: sources as LoadedConfig['sources'] };
}

/** Sum of the limits of all processes that have one. */
function sum(at: LoadedConfig, divided: Partial<Config>): number {
  const of = (key: 'worker.memory_limit' | 'worker.process_headroom' | 'planner.memory_limit'): number =>
    must(divided[key], key);
  const worker = of('worker.memory_limit') + of('worker.process_headroom');
  return worker * at.config['up.workers'] + of('planner.memory_limit') * at.config['planner.processes'];
}

test.each([
  [4, 2, 3],
  [6, 2, 3],
  [8, 2, 3],
  [24, 2, 3],
  [24, 1, 3],
  [64, 8, 6],
  [512, 16, 8],
])('of %d GiB, %d workers and %d planners have no more than their part', (gibibytes, workers, planners) => {
  const at = loaded({ 'up.workers': workers, 'planner.processes': planners });
  expect(sum(at, divideMemory(at, gibibytes * GIB))).toBeLessThanOrEqual(gibibytes * GIB * 0.5);
});

test.each([4, 5, 6, 7, 8, 12, 24])(
  'of %d GiB the others have a tenth, and no less than they need when nothing runs',
  (gibibytes) => {
    const at = loaded();
    const others = Math.max(0.1 * gibibytes * GIB, 0.75 * GIB);
    expect(sum(at, divideMemory(at, gibibytes * GIB)) + others).toBeLessThanOrEqual(gibibytes * GIB * 0.6);
  },
);

test('the workers have as much in all, however many they are', () => {
  const all = [1, 2, 4].map((workers) => {
    const at = loaded({ 'up.workers': workers });
    return must(divideMemory(at, 24 * GIB)['worker.memory_limit'], 'a limit') * workers;
  });
  expect(Math.max(...all) - Math.min(...all)).toBeLessThan(GIB / 1024);
});

/** Memory limits of the catalog's and coordinator's caches and requests, including each of their reader threads. */
function services(config: Config): number {
  const once = ['catalog.bodies_bytes_max', 'catalog.answers_bytes_max', 'catalog.manifest_cache_bytes'] as const;
  const plans = ['catalog.plan_bytes_kept_max'] as const;
  const queries = ['bodies_bytes_max', 'metadata_cache_bytes', 'file_lists_bytes_max'] as const;
  const reading = config['reader.file_memory'] + config['reader.threads'] * config['reader.heap_limit'];
  return (
    [...once, ...plans].reduce((bytes, key) => bytes + config[key], 2 * reading) +
    queries.reduce((bytes, key) => bytes + config[`coordinator.${key}`], 0)
  );
}

test('below 8 GiB the catalog and the coordinator keep in proportion to the machine, and from there on what they keep by default', () => {
  const at = loaded();
  const of = (gibibytes: number): Config => ({ ...at.config, ...divideMemory(at, gibibytes * GIB) });
  expect(services(of(4))).toBeLessThanOrEqual(services(at.config) / 2);
  expect(services(of(6))).toBeLessThanOrEqual((services(at.config) * 3) / 4);
  expect(services(of(8))).toBe(services(at.config));
  expect(services(of(64))).toBe(services(at.config));
  for (const gibibytes of [0.5, 1, 2, 3, 4, 6]) {
    expect(() => checkConfig({ ...at, config: of(gibibytes) })).not.toThrow();
  }
});

test('settings of the operator are kept', () => {
  const own = {
    'worker.memory_limit': 3 * GIB,
    'planner.memory_limit': 2 * GIB,
    'catalog.bodies_bytes_max': GIB,
    'reader.heap_limit': GIB,
  };
  expect(divideMemory(loaded(own), 4 * GIB)).toMatchObject(own);
});

test.each([0.5, 1, 1.5, 2])('of %d GiB every process gets a limit that it accepts', (gibibytes) => {
  const divided = divideMemory(loaded(), gibibytes * GIB);
  expect(divided['worker.memory_limit']).toBeGreaterThanOrEqual(WORKER_MEMORY_MIN);
  expect(divided['worker.process_headroom']).toBeGreaterThanOrEqual(GIB / 4);
  expect(divided['planner.memory_limit']).toBeGreaterThanOrEqual(GIB / 4);
});

test('a machine that is too small for its share is told so', () => {
  expect(smallMachine(3 * GIB)).toMatch(/^3\.0 GiB of memory: with less than 4 GiB .* more than 60 %/);
  expect(smallMachine(4 * GIB)).toBeUndefined();
});
