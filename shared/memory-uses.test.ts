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
