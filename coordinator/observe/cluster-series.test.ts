import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { noQueries } from '../workload/work-class.ts';
import { view } from '#test/support/api-fixtures.ts';
import { ClusterSeries, SERIES_STEP_MS } from './cluster-series.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a point each five seconds, the sums of all workers, for an hour', () => {
  const counts = noQueries();
  counts.batch.queued = 2;
  let nowMs = 0;
  using series = new ClusterSeries({ view, admission: { countClasses: () => counts }, clock: { nowMs: () => nowMs } });
  expect(series.points).toMatchObject([
    { atMs: 0, running: 1, queued: 2, slots: 2, tasks: 1, memoryGrantedBytes: 100 },
  ]);
  for (let i = 0; i < 1_000; i += 1) {
    nowMs += SERIES_STEP_MS;
    vi.advanceTimersByTime(SERIES_STEP_MS);
  }
  const { points } = series;
  expect(points).toHaveLength(720);
  expect([points.at(-1)?.atMs, (points.at(-1)?.atMs ?? 0) - (points[0]?.atMs ?? 0)]).toEqual([5_000_000, 3_595_000]);
  expect(points.at(-1)?.classes.batch).toEqual({ running: 0, queued: 2 });
});
