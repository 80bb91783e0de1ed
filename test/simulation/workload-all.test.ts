import { test } from 'vitest';
import { simulateQueries } from './workload-traces.ts';

test('fifty thousand generated queries keep every limit, their order and their turns, also when the file changes', () => {
  simulateQueries(50_000);
}, 300_000);
