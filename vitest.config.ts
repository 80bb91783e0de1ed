import { defineConfig } from 'vitest/config';

const node = { environment: 'node', pool: 'forks' } as const;

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
          name: 'unit',
          include: ['{shared,proto,catalog,coordinator,worker,cli,bench}/**/*.test.ts', 'test/tidy.test.ts'],
          exclude: ['**/*.system.test.ts', '**/node_modules/**'],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          ...node,
          name: 'plan',
          include: ['test/plan/**/*.test.ts'],
          exclude: ['**/*.system.test.ts'],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          ...node,
          name: 'system',
          include: [
            '**/*.system.test.ts',
            'test/{slt,tpch,tpcds,oracle,conformance,clients,protocol,simulation,chaos,cluster}/**/*.test.ts',
          ],
          exclude: ['**/node_modules/**', 'test/**/*.unit.test.ts', '**/*.full.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
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
