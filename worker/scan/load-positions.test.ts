import { tableFromIPC } from 'apache-arrow';
import { expect, test } from 'vitest';
import { Instance } from '../duckdb/instance.ts';
import { queryArrow } from '#test/support/duckdb-ipc.ts';
import { DeletedPositions } from './deleted-positions.ts';
import { dropPositions, loadPositions } from './load-positions.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

const POSITIONS = 1_000_000;
/** Limit of thread CPU time of one step: between two steps a slot runs its other tasks. */
const STEP_CPU_MS_MAX = 100;

test('a million positions of two files go into their table step by step', () => {
  using instance = Instance.open({ threads: '1' });
  using connection = instance.connect();
  const positions = new DeletedPositions(2 ** 30);
  positions.add(BigInt64Array.from({ length: 3 }, (_, i) => BigInt(i)));
  positions.add(BigInt64Array.from({ length: POSITIONS }, (_, i) => BigInt(i * 2)));
  let steps = 0;
  let longestMs = 0;
  const loading = loadPositions(connection, positions);
  for (let done: boolean | undefined = false; done !== true; steps++) {
    const before = process.threadCpuUsage();
    ({ done } = loading.next());
    const { user, system } = process.threadCpuUsage(before);
    longestMs = Math.max(longestMs, (user + system) / 1_000);
  }
  expect(steps).toBeGreaterThan(400);
  expect(longestMs).toBeLessThan(STEP_CPU_MS_MAX * machineSlowness());
  const sql = `SELECT file, count(*)::INT AS n, sum(pos)::DOUBLE AS s FROM ${positions.table} GROUP BY file ORDER BY file`;
  const rows = tableFromIPC(queryArrow(connection, sql).stream).toArray();
  expect(rows.map((row: { toJSON(): unknown }) => row.toJSON())).toEqual([
    { file: 0, n: 3, s: 3 },
    { file: 1, n: POSITIONS, s: POSITIONS * (POSITIONS - 1) },
  ]);
  dropPositions(connection, positions);
  expect(() => connection.run(`FROM ${positions.table}`)).toThrow('does not exist');
});
