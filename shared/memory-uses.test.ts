import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { exportMemoryUses, memoryUses, MemoryUses } from './memory-uses.ts';

test('hits and misses of each memory are on the page of metrics, those of other threads among them', async () => {
  const registry = new Registry();
  exportMemoryUses(registry);
  const uses = memoryUses('of the test');
  expect(uses.of(undefined)).toBeUndefined();
  expect(uses.of('found')).toBe('found');
  new MemoryUses(uses.words).count(true);
  const page = await registry.metrics();
  expect(page).toContain('skein_memory_reads_total{memory="of the test",outcome="hit"} 2\n');
  expect(page).toContain('skein_memory_reads_total{memory="of the test",outcome="miss"} 1\n');
});

const ROOT = join(import.meta.dirname, '..');
const SOURCES = globSync('{catalog,coordinator,worker,shared}/**/*.ts', { cwd: ROOT })
  .filter((path) => !path.endsWith('.test.ts'))
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

test('docs/performance.md lists each memory, and no other', () => {
  const named = SOURCES.flatMap(({ text }) => [...text.matchAll(/\bmemoryUses\('(\w+)'\)/g)]);
  // The kinds of `statement_${kind}`.
  const kinds = SOURCES.flatMap(({ text }) => [...text.matchAll(/^\s+\w+: memory\('(\w+)'\)/gm)]);
  const names = [...named.map(([, name = '']) => name), ...kinds.map(([, kind]) => `statement_${kind}`)];
  const page = readFileSync(join(ROOT, 'docs/performance.md'), 'utf8');
  const [, table = ''] = page.split('### Every memory that exists for speed');
  const rows = table.split('\n').filter((line) => line.startsWith('| `'));
  const listed = rows
    .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`(\w+)`/g)])
    .map(([, name = '']) => name);
  expect(listed.toSorted()).toEqual([...new Set([...names, 'memory'])].toSorted());
});

/** Files that keep by last use what is no memory for speed, each with its reason. */
const NO_MEMORY: Readonly<Record<string, string>> = {
  'catalog/idempotency/key-allowance.ts': 'a limit',
  'catalog/principal/failed-accounts.ts': 'a limit',
  'catalog/principal/failed-attempts.ts': 'a limit',
  'catalog/token/rate-limit.ts': 'a limit',
  'coordinator/api/console/console-sessions.ts': 'sessions that have ended',
  'coordinator/quarantine/recent-runs.ts': 'statements that a worker may have died of',
  'coordinator/write/commit-queue.ts': 'whether a commit knows the last one',
  'shared/iceberg/avro/write-container.ts': 'a millisecond',
  'shared/sealed-text.ts': 'a derived key',
  'shared/signed-text.ts': 'a derived key',
  'shared/thread/small-first.ts': 'whose turn it is',
  'worker/disk-cache/disk-cache.ts': 'what is to be copied; hits are counted where copies are opened',
  'worker/exchange/peer-clients.ts': 'connections',
  'worker/objects/hot-objects.ts': 'what is to be fetched whole',
  'worker/task/task-registry.ts': 'tasks and queries that have ended',
};

test('a file that keeps by last use counts its uses, or is no memory for speed', () => {
  const keeping = SOURCES.filter(({ text }) => /\bnew LRUCache\b/.test(text));
  const silent = keeping.filter(({ text }) => !/\b[mM]emoryUses\b/.test(text)).map(({ path }) => path);
  expect(silent.toSorted()).toEqual(Object.keys(NO_MEMORY).toSorted());
});
