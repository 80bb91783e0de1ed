import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { decodeTaskHead, encodeTaskSpec } from '#shared/task/task-codec.ts';
import { SkeinError } from '#shared/error.ts';
import { principalId, tenantId } from '#shared/id.ts';
import { makeTask } from '#test/support/worker-client.ts';
import { makeSlotPool } from '#test/support/slot-pool.ts';
import type { SlotPool } from './slot-pool.ts';
import type { SlotStart } from '../turns/slot-messages.ts';
import type { SlotRun } from './slot-run.ts';
import { patience } from '#test/support/run/slowness.ts';

const PLACES = 3;
/** A statement whose rows no reader takes, so that its task keeps its place until it is cancelled. */
const ENDLESS = "SELECT repeat('x', 1000) FROM range(100000000)";

/** One quantum of more than a second. */
const LONG = "SELECT levenshtein(repeat('a', 40000 + i::INT), repeat('b', 40000)) FROM range(1) t(i)";

let dir: string;
let pool: SlotPool;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'skein-slots-'));
  // A spare slot would have places of its own.
  pool = makePool(join(dir, 'pool'), 0);
});

afterAll(async () => {
  await pool.close();
  rmSync(dir, { recursive: true, force: true });
});

const makePool = (spillDir: string, sparesMax: number, idleMs = 60_000): SlotPool =>
  makeSlotPool({
    slots: 1,
    tasksPerSlotMax: PLACES,
    spillDir,
    idle: { countMax: 4, afterMs: idleMs },
    outputBufferBytes: 1e5,
    sparesMax,
  });

const startOf = async (sql: string, tenant: string, principal: string, pinnedToTop = false): Promise<SlotStart> => {
  const spec = makeTask(sql, { tenant: tenantId(tenant), principal: principalId(principal), pinnedToTop });
  const waits = { inputsMs: 0, queuedMs: 0 };
  return {
    spec: decodeTaskHead(await encodeTaskSpec(spec)),
    memoryBytes: 2 ** 27,
    inputs: [],
    receivedBytes: 0,
    waits,
  };
};

test('tasks beyond the places of a slot have them in turn: tenants first, then principals', async () => {
  const begun: string[] = [];
  const runs = new Map<string, SlotRun>();
  const start = async (name: string, tenant: string, principal: string): Promise<void> => {
    const run = pool.run(await startOf(ENDLESS, tenant, principal), ({ kind }) => {
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
  await vi.waitFor(() => expect(begun).toHaveLength(PLACES), patience(10_000));
  // Places become free one after the other.
  for (const [next, ended] of [
    ['one', 'many 1'],
    ['modest', 'many 2'],
    ['many 4', 'one'],
  ] as const) {
    await end(ended);
    await vi.waitFor(() => expect(begun.at(-1)).toBe(next), patience(10_000));
  }
  await Promise.all([...runs.keys()].map(end));
});

/** DuckDB 1.5.5 ends it with an internal error (duckdb/duckdb#24921). */
const FAULTY = `WITH t AS (SELECT 'a' AS sid, DATE '2020-01-01' AS d)
  SELECT o.sid, x.h FROM t o, LATERAL (WITH scope AS (SELECT sid, d FROM t WHERE sid = o.sid)
    SELECT EXISTS (SELECT 1 FROM scope i WHERE i.sid = c.sid AND i.d <= c.d) AS h FROM scope c) x`;

test('an internal error of DuckDB costs its statement alone: the instance is closed, and tasks beside it and behind it end well', async () => {
  const spillDir = join(dir, 'faulty');
  const faulty = makePool(spillDir, 0);
  const ends: string[] = [];
  const run = async (sql: string, tenant: string): Promise<SlotRun> =>
    faulty.run(await startOf(sql, tenant, 'p'), (output) => {
      if (output.kind === 'finished') ends.push(`${tenant} finished`);
      if (output.kind === 'failed') ends.push(`${tenant} ${output.error.code}`);
    });
  const instances = (): readonly string[] =>
    readdirSync(spillDir).flatMap((slot) => readdirSync(join(spillDir, slot)).map((name) => `${slot}/${name}`));
  try {
    await (
      await run('SELECT 1', 't')
    ).ended;
    const before = instances();
    const other = await run('SELECT max(hash(n)) FROM range(3000000) AS r(n)', 'other');
    await (
      await run(FAULTY, 't')
    ).ended;
    // The instance that the tenant's first statement left is the one that the second one took.
    expect(before.filter((name) => instances().includes(name)).length).toBeLessThan(before.length);
    await (
      await run('SELECT 1', 't')
    ).ended;
    await other.ended;
    expect(ends.toSorted()).toEqual(['other finished', 't ENGINE_FAULT', 't finished', 't finished']);
  } finally {
    await faulty.close();
  }
}, 60_000);

test('threads for a long quantum end after it, the one in reserve too, and leave no DuckDB instance behind', async () => {
  const spillDir = join(dir, 'replaced');
  const replaced = makePool(spillDir, 2, 500);
  try {
    const run = replaced.run(await startOf(LONG, 't', 'p'), () => undefined);
    // The instances of a thread share a folder, which exists while one of them is open. One thread is slow, one in its place, one in reserve.
    await vi.waitFor(() => expect(readdirSync(spillDir)).toHaveLength(3), patience(10_000));
    await run.ended;
    await vi.waitFor(() => expect(readdirSync(spillDir)).toHaveLength(1), patience(10_000));
  } finally {
    await replaced.close();
  }
  // The thread of a long quantum has a low priority: beside other suites it may get a tenth of a core.
}, 180_000);

test('a task that was reported as ended while its step went on still holds its memory, and its thread still works for it', async () => {
  const abandoning = makePool(join(dir, 'abandoning'), 0);
  const users = (): unknown => abandoning.working().flatMap(({ user }) => (user === null ? [] : [user]));
  try {
    const step = LONG.replaceAll('40000', '50000');
    const run = abandoning.run(await startOf(step, 't', 'p'), () => undefined);
    await vi.waitFor(() => expect(users()).toEqual([run]), patience(10_000));
    // It may have been at its preparation, which ends at once.
    await sleep(200);
    expect(users()).toEqual([run]);
    run.cancel(new SkeinError('MEMORY_KILLED', 'it takes too much'));
    await run.ended;
    expect(run.hasLeft).toBe(false);
    // Without it, the memory that the step goes on to take would be blamed on tasks that work beside it.
    expect(abandoning.holders).toEqual([run]);
    expect(users()).toEqual([run]);
    await run.left();
    await vi.waitFor(() => expect(abandoning.holders).toEqual([]));
    expect(users()).toEqual([]);
  } finally {
    await abandoning.close();
  }
}, 60_000);

test('while every slot is busy, short tasks have a thread of their own, which they leave when they are not short', async () => {
  const spillDir = join(dir, 'express');
  const express = makePool(spillDir, 1);
  const ends: string[] = [];
  const run = async (sql: string, pinned: boolean): Promise<SlotRun> => {
    const started = express.run(await startOf(sql, 't', pinned ? 'short' : 'batch', pinned), ({ kind }) => {
      if (kind === 'finished' || kind === 'failed') ends.push(kind);
    });
    return started;
  };
  const short = async (): Promise<boolean> => {
    const one = await run('SELECT 1', true);
    await one.ended;
    return one.hasLeft;
  };
  try {
    // An idle slot serves short tasks as well as any other.
    expect(await short()).toBe(true);
    const batch = await run('SELECT max(hash(n)) FROM range(1000000000000) AS r(n)', false);
    await (
      await run('SELECT 1', false)
    ).ended;
    expect(readdirSync(spillDir)).toHaveLength(1);
    expect(await short()).toBe(true);
    expect(readdirSync(spillDir)).toHaveLength(2);
    const long = await run('SELECT max(hash(n)) FROM range(100000000) AS r(n)', true);
    await long.ended;
    // It has left another thread before, and run to its end on the slot.
    expect(long.hasLeft).toBe(false);
    expect(ends).toEqual(['finished', 'finished', 'finished', 'finished']);
    batch.cancel(new SkeinError('QUERY_CANCELLED', 'enough'));
    await batch.ended;
  } finally {
    await express.close();
  }
}, 60_000);
