import { defineConfig } from 'vitest/config';

const node = { environment: 'node', pool: 'forks' } as const;
const seeded = { setupFiles: ['test/support/property-seed.ts'] };

/**
 * `unit` and `plan` run in `npm run check`; `system` starts real clusters and other people's clients; `full` is what takes too long for
 * every run (`.ci/run --full`).
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...node,
          ...seeded,
          name: 'unit',
          include: ['{shared,proto,catalog,coordinator,worker,cli,bench}/**/*.test.ts', 'test/tidy.test.ts'],
          exclude: ['**/*.system.test.ts', '**/node_modules/**'],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          ...node,
          ...seeded,
          name: 'plan',
          include: ['test/plan/**/*.test.ts'],
          exclude: ['**/*.system.test.ts'],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          ...node,
          ...seeded,
          name: 'system',
          include: [
            '**/*.system.test.ts',
            'test/{slt,tpch,tpcds,oracle,conformance,clients,protocol,simulation,chaos,cluster,attack,fuzz}/**/*.test.ts',
          ],
          exclude: ['**/node_modules/**', 'test/**/*.unit.test.ts', '**/*.full.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
          // A second, the default, is less than a busy machine may stand still.
          expect: { poll: { timeout: 5_000 } },
        },
      },
      {
        test: {
          ...node,
          name: 'full',
          include: ['test/**/*.full.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
