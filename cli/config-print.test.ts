import { expect, test } from 'vitest';
import { CONFIG } from '#shared/config/config-schema.ts';
import { loadConfig } from '#shared/config/load-config.ts';
import { printedConfig } from './config-print.ts';

const load = (environment: Readonly<Record<string, string>>) => loadConfig({ environment, workingDir: '/nonexistent' });

test('every key is printed with its value and source, and no secret', () => {
  const printed = printedConfig(
    load({
      SKEIN_CLUSTER_SECRET: 'hush-1',
      SKEIN_ADMIN_PASSWORD: 'hush-2',
      DATABASE_URL: 'postgres://skein:hush-3@db:5432/skein',
      ETCD_ENDPOINTS: 'http://u:hush-4@127.0.0.1:2379,http://127.0.0.1:2380',
      SKEIN_WORKER_MEMORY_LIMIT: '512MB',
    }),
    {},
  );
  expect(Object.keys(printed)).toEqual(Object.keys(CONFIG));
  expect(JSON.stringify(printed)).not.toContain('hush');
  expect(printed['database.url']).toEqual({
    value: 'postgres://skein:***@db:5432/skein',
    source: 'environment DATABASE_URL',
  });
  expect(printed['worker.memory_limit']).toEqual({
    value: 512_000_000,
    source: 'environment SKEIN_WORKER_MEMORY_LIMIT',
  });
  expect(printed['client.token']).toEqual({ value: '', source: 'default' });
});

test('settings of the running cluster are shown, unless this command sets another value', () => {
  const running = {
    'worker.memory_limit': { text: '536870912', source: 'flag --worker-memory' },
    'worker.cores': { text: '3', source: 'flag --worker-cores' },
  };
  const printed = printedConfig(load({ SKEIN_WORKER_CORES: '5' }), running);
  expect(printed['worker.memory_limit']).toEqual({ value: 536_870_912, source: 'flag --worker-memory' });
  expect(printed['worker.cores']).toEqual({ value: 5, source: 'environment SKEIN_WORKER_CORES' });
});
