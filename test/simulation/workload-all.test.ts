import { expect, test } from 'vitest';
import { simulateSlots } from './simulate-slots.ts';
import { simulateQueries } from './workload-traces.ts';

test('fifty thousand generated queries keep every limit, their order and their turns, also when the file changes', () => {
  expect(simulateQueries(50_000)).toBeGreaterThanOrEqual(50_000);
}, 300_000);

test('the slots of two hundred generated clusters give turns to tenants, principals and levels', () => {
  simulateSlots(200);
}, 300_000);
