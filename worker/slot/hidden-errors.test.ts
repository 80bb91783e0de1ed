import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decodeTaskHead, encodeTaskSpec } from '#shared/task/task-codec.ts';
import { makeSlotPool } from '#test/support/slot-pool.ts';
import { makeTask } from '#test/support/worker-client.ts';
import { freeMessage } from '../batch/arrow-message.ts';
import type { SlotPool } from './slot-pool.ts';

const RUNS = 150;
/** Rows are streamed long before the one that fails. */
const FAILS_LATE = "SELECT CASE WHEN n = 300000 THEN error('late') ELSE n END FROM range(300001) AS r(n)";

let dir: string;
let pool: SlotPool;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'skein-hidden-'));
  pool = makeSlotPool({
    slots: 1,
    tasksPerSlotMax: 4,
    spillDir: dir,
    idle: { countMax: 4 },
    outputBufferBytes: 1e9,
    sparesMax: 0,
  });
});

afterAll(async () => {
  await pool.close();
  rmSync(dir, { recursive: true, force: true });
});

async function endOf(sql: string): Promise<{ readonly error: string; readonly rows: number }> {
  const spec = decodeTaskHead(await encodeTaskSpec(makeTask(sql, { threads: 2 })));
  const waits = { inputsMs: 0, queuedMs: 0 };
  let [error, rows] = ['none', 0];
  const run = pool.run({ spec, memoryBytes: 2 ** 28, inputs: [], receivedBytes: 0, waits }, (output) => {
    if (output.kind === 'failed') error = `${output.error.code} ${output.error.message}`;
    if (output.kind === 'data' || output.kind === 'batch') rows += output.rows;
    if (output.kind === 'batch') freeMessage(output.message);
  });
  await run.ended;
  return { error, rows };
}

test('an error that a helper thread meets behind the first rows is told, and no interrupt of DuckDB in its place', async () => {
  const seen: Record<string, number> = {};
  for (let i = 0; i < RUNS; i += 1) {
    const { error, rows } = await endOf(FAILS_LATE);
    seen[error] = (seen[error] ?? 0) + 1;
    expect(rows).toBeLessThanOrEqual(300_000);
  }
  expect(seen).toEqual({ 'INVALID_ARGUMENT late': RUNS });
});
