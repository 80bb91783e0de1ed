import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { decodeTaskHead, encodeTaskSpec } from '#proto/task-codec.ts';
import { SkeinError } from '#shared/error.ts';
import { principalId, tenantId } from '#shared/id.ts';
import { silentLogger as log } from '#shared/log/logger.ts';
import { makeTask } from '#test/support/worker-client.ts';
import { SlotPool } from './slot-pool.ts';
import type { SlotRun } from './slot-run.ts';

const PLACES = 3;
/** A statement whose rows no reader takes, so that its task keeps its place until it is cancelled. */
const ENDLESS = "SELECT repeat('x', 1000) FROM range(100000000)";

let dir: string;
let pool: SlotPool;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'skein-slots-'));
  pool = new SlotPool({
    slots: 1,
    tasksPerSlotMax: PLACES,
    spillDir: dir,
    idle: { countMax: 0, bytesMax: 0, afterMs: 0 },
    outputBufferBytes: 1e5,
    quanta: {
      longMax: 1,
      ageMaxMs: 30_000,
      overrunMs: 5_000,
      // A spare slot would have places of its own.
      sparesMax: 0,
      onSpares: () => undefined,
      onOverrun: () => undefined,
      onHung: () => undefined,
    },
    log,
  });
});

afterAll(async () => {
  await pool.close();
  rmSync(dir, { recursive: true, force: true });
});

test('tasks beyond the places of a slot have them in turn: tenants first, then principals', async () => {
  const begun: string[] = [];
  const runs = new Map<string, SlotRun>();
  const start = async (name: string, tenant: string, principal: string): Promise<void> => {
    const spec = makeTask(ENDLESS, { tenant: tenantId(tenant), principal: principalId(principal) });
    const sent = {
      spec: decodeTaskHead(await encodeTaskSpec(spec)),
      memoryBytes: 2 ** 27,
      inputs: [],
      receivedBytes: 0,
    };
    const run = pool.run(sent, ({ kind }) => {
      if (kind === 'data' && !begun.includes(name)) begun.push(name);
    });
    runs.set(name, run);
  };
  const end = async (name: string): Promise<void> => {
    const run = runs.get(name);
    run?.cancel(new SkeinError('QUERY_CANCELLED', 'no longer wanted'));
    await run?.ended;
  };
  for (const name of ['many 1', 'many 2', 'many 3', 'many 4', 'many 5']) await start(name, 'many', 'greedy');
  await start('modest', 'many', 'modest');
  await start('one', 'other', 'p');
  await vi.waitFor(() => expect(begun).toHaveLength(PLACES), 10_000);
  // A place becomes free, and another, and another.
  for (const [next, ended] of [
    ['one', 'many 1'],
    ['modest', 'many 2'],
    ['many 4', 'one'],
  ] as const) {
    await end(ended);
    await vi.waitFor(() => expect(begun.at(-1)).toBe(next), 10_000);
  }
  await Promise.all([...runs.keys()].map(end));
});
