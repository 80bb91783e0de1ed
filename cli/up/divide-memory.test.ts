import { expect, test } from 'vitest';
import { defaultConfig, type Config, type ConfigKey } from '#shared/config/config-schema.ts';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { WORKER_MEMORY_MIN } from '#shared/config/machine-memory.ts';
import { must } from '#shared/must.ts';
import { divideMemory } from './divide-memory.ts';

const GIB = 2 ** 30;

function loaded(own: Partial<Config> = {}): LoadedConfig {
  const config = defaultConfig(own);
  const keys = Object.keys(config) as ConfigKey[];
  const sources = Object.fromEntries(keys.map((key) => [key, own[key] === undefined ? 'default' : 'flag']));
  return { config, sources: sources as LoadedConfig['sources'] };
}

/** What all processes may use that have a limit. */
function sum(at: LoadedConfig, divided: Partial<Config>): number {
  const of = (key: 'worker.memory_limit' | 'worker.process_headroom' | 'planner.memory_limit'): number =>
    must(divided[key], key);
  const worker = of('worker.memory_limit') + of('worker.process_headroom');
  return worker * at.config['up.workers'] + of('planner.memory_limit') * at.config['planner.processes'];
}

test.each([
  [8, 2, 3],
  [24, 2, 3],
  [24, 1, 3],
  [64, 8, 6],
  [512, 16, 8],
])('of %d GiB, %d workers and %d planners have no more than their part', (gibibytes, workers, planners) => {
  const at = loaded({ 'up.workers': workers, 'planner.processes': planners });
  expect(sum(at, divideMemory(at, gibibytes * GIB))).toBeLessThanOrEqual(gibibytes * GIB * 0.5);
});

test('what an operator has set stays', () => {
  const at = loaded({ 'worker.memory_limit': 3 * GIB, 'planner.memory_limit': 2 * GIB });
  expect(divideMemory(at, 8 * GIB)).toMatchObject({
    'worker.memory_limit': 3 * GIB,
    'planner.memory_limit': 2 * GIB,
  });
});

test.each([0.5, 1, 1.5, 2])('of %d GiB every process gets a limit that it accepts', (gibibytes) => {
  const divided = divideMemory(loaded(), gibibytes * GIB);
  expect(divided['worker.memory_limit']).toBeGreaterThanOrEqual(WORKER_MEMORY_MIN);
  expect(divided['worker.process_headroom']).toBeGreaterThanOrEqual(GIB / 4);
  expect(divided['planner.memory_limit']).toBeGreaterThanOrEqual(GIB / 4);
});
