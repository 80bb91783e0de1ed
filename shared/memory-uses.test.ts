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

test('docs/performance.md lists each memory', () => {
  const root = join(import.meta.dirname, '..');
  const sources = globSync('{catalog,coordinator,worker,shared}/**/*.ts', { cwd: root });
  const named = sources
    .filter((path) => !path.endsWith('.test.ts'))
    .flatMap((path) => [...readFileSync(join(root, path), 'utf8').matchAll(/\bmemoryUses\('(\w+)'\)/g)])
    .map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(10);
  const page = readFileSync(join(root, 'docs/performance.md'), 'utf8');
  const table = page.slice(page.indexOf('### Every memory that exists for speed'));
  expect(named.filter((name) => !table.includes(`\`${name}\``))).toEqual([]);
});
