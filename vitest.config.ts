import { defineConfig } from 'vitest/config';
import { COMPILE_CACHE } from '#cli/node-flags.js';
import { patience } from '#test/support/run/slowness.ts';
import { SlowFirst } from '#test/support/run/slow-first.ts';
import {
  BUCKET_SUITES,
  CLIENT_SUITES,
  DEEP_SUITES,
  EXHAUSTIVE_SUITES,
  LONG_SIEGE_SUITES,
  OVER_BUCKET_SUITES,
  SCALE_SUITES,
  SIEGE_SUITES,
} from '#test/support/ci-suites.ts';
import { missingPeers } from '#test/support/peers.ts';

/** Vitest's workers and everything that they start: types need not be stripped nor code compiled again. */
process.env['NODE_COMPILE_CACHE'] ??= COMPILE_CACHE;

/** Node itself imports the modules, as it does in the product. */
const node = {
  environment: 'node' as const,
  pool: 'forks' as const,
  experimental: { viteModuleRunner: false },
  setupFiles: ['test/support/property-seed.ts'],
};
/**
 * One more than there are cores: many suites wait for other processes, and those that do not fill the gaps. With four both cores are as busy, but
 * each suite is so slow on a machine of half the speed that calls between services meet their time-outs.
 */
const WORKERS = 3;
/** Files that share a worker's modules: to load them takes longer than most of these tests. */
const together = { ...node, isolate: false, maxWorkers: WORKERS };
/** On a slow machine every test has more time: that it ends late is no fault of the product. `timed` has bounds of its own. */
const system = {
  ...node,
  testTimeout: patience(120_000),
  hookTimeout: patience(180_000),
  expect: { poll: { timeout: patience(5_000) } },
};
const SUITES = 'test/{slt,tpch,tpcds,oracle,conformance,protocol,simulation,chaos,cluster,upgrade,attack,fuzz}/**';
const TIMED = '**/*.timed.test.ts';
const FULL = '**/*.full.test.ts';
const MODULES = '**/node_modules/**';
const LEFT_TO_CI = [...CLIENT_SUITES, ...BUCKET_SUITES, ...SCALE_SUITES, ...EXHAUSTIVE_SUITES];
/** `npm test` names them, and `.ci/run` fails when there are any. */
const WITHOUT_PEER = missingPeers().flatMap(({ suites }) => suites);

/**
 * `unit` and `plan` run in `npm run check`, and in `npm test` beside `system`, which starts real servers and other people's clients; after
 * them `timed`, the suites with a bound of time or memory, each alone. `clients` and `sieges` are left to `.ci/run`; `deep`,
 * `long-sieges` and `full` are what takes too long for every run (`.ci/run --full deep`, `--full sieges`, `--full clients`).
 */
export default defineConfig({
  test: {
    globalSetup: ['test/support/run/run-resources.ts'],
    sequence: { sequencer: SlowFirst },
    projects: [
      {
        test: {
          ...together,
          name: 'unit',
          include: ['{shared,proto,catalog,coordinator,worker,cli,bench,console}/**/*.test.ts', 'test/tidy.test.ts'],
          exclude: ['**/*.system.test.ts', TIMED, FULL, MODULES, ...LEFT_TO_CI, ...DEEP_SUITES],
          testTimeout: patience(20_000),
        },
      },
      {
        test: {
          ...together,
          name: 'plan',
          include: ['test/plan/**/*.test.ts'],
          exclude: ['**/*.system.test.ts', ...DEEP_SUITES],
          testTimeout: patience(30_000),
        },
      },
      {
        test: {
          ...system,
          name: 'system',
          include: ['**/*.system.test.ts', `${SUITES}/*.test.ts`],
          exclude: [MODULES, TIMED, FULL, ...LEFT_TO_CI, ...DEEP_SUITES, ...WITHOUT_PEER],
          maxWorkers: WORKERS,
        },
      },
      {
        test: {
          ...system,
          name: 'clients',
          include: LEFT_TO_CI,
          exclude: [MODULES, FULL, ...DEEP_SUITES, ...WITHOUT_PEER],
          maxWorkers: WORKERS,
        },
      },
      {
        test: {
          ...system,
          name: 'deep',
          include: [...DEEP_SUITES],
          exclude: [MODULES, ...WITHOUT_PEER],
          maxWorkers: WORKERS,
        },
      },
      {
        test: {
          ...system,
          name: 'timed',
          include: [TIMED],
          exclude: [MODULES, ...SIEGE_SUITES, ...LONG_SIEGE_SUITES, ...WITHOUT_PEER],
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...system,
          name: 'sieges',
          include: [...SIEGE_SUITES],
          exclude: [MODULES, ...WITHOUT_PEER],
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...system,
          name: 'long-sieges',
          include: [...LONG_SIEGE_SUITES],
          exclude: [MODULES, ...WITHOUT_PEER],
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...system,
          name: 'bucket',
          globalSetup: ['test/support/run/over-bucket.ts'],
          include: [...OVER_BUCKET_SUITES],
          exclude: [MODULES, ...WITHOUT_PEER],
          testTimeout: patience(300_000),
          hookTimeout: patience(900_000),
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          ...node,
          name: 'full',
          include: [FULL],
          exclude: [MODULES],
          testTimeout: patience(600_000),
          hookTimeout: patience(600_000),
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
