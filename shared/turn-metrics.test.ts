import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { turnsIn } from '#test/support/main-thread-turns.ts';
import { measureTurns } from './turn-metrics.ts';

/** Blocks this thread until it has used `ms` of CPU time. */
function compute(ms: number): void {
  const start = process.threadCpuUsage();
  for (;;) {
    const { user, system } = process.threadCpuUsage(start);
    if (user + system > ms * 1e3) return;
  }
}

test('a long turn is seen, and so is what is not one', async () => {
  const registry = new Registry();
  using _meter = measureTurns(registry);
  await sleep(50);
  const before = turnsIn(await registry.metrics());
  compute(300);
  await sleep(50);
  const { count, longerThan } = turnsIn(await registry.metrics()).since(before);
  expect(longerThan(0.25)).toBe(1);
  expect(longerThan(0.5)).toBe(0);
  expect(count).toBeGreaterThan(1);
});
