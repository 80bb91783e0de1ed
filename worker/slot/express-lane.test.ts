import { describe, expect, test } from 'vitest';
import { principalId, tenantId } from '#shared/id.ts';
import { must } from '#shared/must.ts';
import { DEFAULT_MLFQ } from '#shared/mlfq-spec.ts';
import { ExpressLane, type LaneSlot, type LaneTask } from './express-lane.ts';
import { FairQueue } from '../run/fair-queue.ts';
import { LevelSpec } from '../turns/level-spec.ts';
import type { QueryTime } from '../turns/slot-messages.ts';

/** A step of a task on a slot, which nothing interrupts. */
const STEP_MS = 30;
/** When both want a core, the express slot's thread gets three quarters of it. */
const EXPRESS_SHARE = 0.75;
const DECIDE_MS = 10;

/** A task of somebody that never ends. */
type Load = {
  readonly tenant: string;
  readonly principal: string;
  readonly scheduledMs: number;
  readonly on: 'slot' | 'express';
  /** It has sent rows, so it stays on the express slot however long it takes. */
  readonly stays: boolean;
};

class Task implements LaneTask {
  readonly start;
  readonly #startMs: number;
  readonly #isPinned: boolean;
  readonly load: Load;
  isRunnable = true;
  cpuMs = 0;
  isHeld = false;
  isInside = false;

  constructor(load: Load) {
    const { tenant, principal, scheduledMs } = load;
    this.load = load;
    this.start = { spec: { tenant: tenantId(tenant), principal: principalId(principal) } };
    this.#startMs = scheduledMs;
    this.#isPinned = load.on === 'express';
  }

  get time(): QueryTime {
    return { scheduledMs: this.#startMs + this.cpuMs, pinnedToTop: this.#isPinned };
  }

  hold(on: boolean): void {
    this.isHeld = on;
  }
}

/** Runs one core with a slot and the express slot for a time; answers the CPU time of each load. */
function simulate(loads: readonly Load[], totalMs: number): readonly number[] {
  const tasks = loads.map((one) => new Task(one));
  const lane = new ExpressLane<Task>(new LevelSpec());
  const attempts = { open: new Map<number, Task>(), express: new Map<number, Task>() };
  const queues = { open: new FairQueue(), express: new FairQueue() };
  const place = (id: number, task: Task, on: 'open' | 'express'): void => {
    attempts[on].set(id, task);
    const { scheduledMs } = task.load;
    queues[on].add(String(id), task.start.spec, { scheduledMs, pinned: task.load.on === 'express' });
  };
  for (const [id, task] of tasks.entries()) place(id, task, task.load.on === 'slot' ? 'open' : 'express');
  const slots = (['open', 'express'] as const).map((life) => ({ life, isBusy: true, attempts: attempts[life] }));
  const decide = (nowMs: number): void => {
    const leaving = lane.decide(slots, nowMs, ({ load: { stays } }) => !stays);
    for (const [id, task] of attempts.express) {
      queues.express[task.isHeld ? 'block' : 'wake'](String(id));
      if (!leaving.includes(task)) continue;
      attempts.express.delete(id);
      queues.express.remove(String(id));
      place(id, task, 'open');
    }
  };
  const work = (id: number, on: 'open' | 'express', ms: number): void => {
    must(tasks[id], 'a task').cpuMs += ms;
    queues[on].charge(String(id), ms);
  };
  let inStep: { readonly id: number; leftMs: number } | undefined;
  for (let nowMs = 0; nowMs < totalMs; nowMs++) {
    if (nowMs % DECIDE_MS === 0) decide(nowMs);
    const express = queues.express.pick();
    const share = express === undefined ? 1 : 1 - EXPRESS_SHARE;
    if (express !== undefined) work(Number(express), 'express', EXPRESS_SHARE);
    inStep ??= { id: Number(must(queues.open.pick(), 'a task')), leftMs: STEP_MS };
    work(inStep.id, 'open', share);
    inStep.leftMs -= share;
    if (inStep.leftMs <= 0) inStep = undefined;
  }
  return tasks.map(({ cpuMs }) => cpuMs);
}

const load = (on: Load['on'], principal: string, scheduledMs = 0, tenant = 'acme'): Load => ({
  on,
  principal,
  tenant,
  scheduledMs,
  stays: on === 'express',
});

const DEEP_MS = 1e6;
const TOTAL_MS = 60_000;

/** For tasks that have sent rows. */
const stays = (): boolean => false;

describe('whoever keeps the express slot busy', () => {
  test('gets as much as another principal that does not use it, and no more', () => {
    const [express = 0, slot = 0] = simulate([load('express', 'i'), load('slot', 'b', DEEP_MS)], TOTAL_MS);
    expect(express / slot).toBeGreaterThan(0.95);
    expect(express / slot).toBeLessThan(1.05);
  });

  test('and has tasks on the slots too, gets as much as another principal all the same', () => {
    const [express = 0, slot = 0, other = 0] = simulate(
      [load('express', 'i'), load('slot', 'i'), load('slot', 'b', DEEP_MS)],
      TOTAL_MS,
    );
    expect((express + slot) / other).toBeGreaterThan(0.95);
    expect((express + slot) / other).toBeLessThan(1.05);
  });

  test('is held for its tenant, too, and shares with the others of it once it has left', () => {
    const leaves = { ...load('express', 'i'), stays: false };
    const loads = [leaves, load('slot', 'b'), load('slot', 'c', DEEP_MS, 'other'), load('express', 'j', 0, 'third')];
    const had = simulate(loads, TOTAL_MS).map((ms) => ms / TOTAL_MS);
    for (const [i, share] of [1 / 6, 1 / 6, 1 / 3, 1 / 3].entries()) {
      expect((had[i] ?? 0) / share, had.join(' ')).toBeGreaterThan(0.9);
      expect((had[i] ?? 0) / share, had.join(' ')).toBeLessThan(1.1);
    }
  });

  test('is never held for good', () => {
    const loads = [load('express', 'i'), load('slot', 'b'), load('slot', 'c', DEEP_MS, 'other')];
    const [express = 0] = simulate(loads, TOTAL_MS);
    expect(express / TOTAL_MS).toBeGreaterThan(0.01);
    expect(express / TOTAL_MS).toBeLessThan(0.03);
  });

  test.each([
    [1_000, 2],
    [10_000, 3],
  ])('gets for its top level at most the share of it beside one that has had %i ms', (scheduledMs, ratio) => {
    // A deeper level gets less, and the system gives the express slot three parts in four at most.
    const [express = 0, slot = 0] = simulate([load('express', 'i'), load('slot', 'i', scheduledMs)], 20_000);
    expect(express / slot / ratio).toBeGreaterThan(0.95);
    expect(express / slot / ratio).toBeLessThan(1.05);
  });

  test('gains nothing by pauses, in which others have the core', () => {
    const lane = new ExpressLane<Task>(new LevelSpec());
    const own = new Task(load('express', 'i'));
    const other = new Task(load('slot', 'b', DEEP_MS));
    const empty: ReadonlyMap<number, Task> = new Map();
    const slots = (express: ReadonlyMap<number, Task>): readonly LaneSlot<Task>[] => [
      { life: 'open', isBusy: true, attempts: new Map([[1, other]]) },
      { life: 'express', isBusy: true, attempts: express },
    ];
    lane.decide(slots(empty), 0, stays);
    other.cpuMs = 10_000;
    lane.decide(slots(empty), 10_000, stays);
    lane.decide(slots(new Map([[2, own]])), 10_010, stays);
    own.cpuMs = 300;
    // It has left before the next decision, and counts all the same.
    lane.left(own);
    const next = new Task(load('express', 'i'));
    lane.decide(slots(new Map([[3, next]])), 10_400, stays);
    expect(next.isHeld).toBe(true);
    other.cpuMs = 10_300;
    lane.decide(slots(new Map([[3, next]])), 10_800, stays);
    expect(next.isHeld).toBe(false);
  });
});

test('the express slot has no use while a slot is idle, and none while all levels share alike', () => {
  const spec = new LevelSpec();
  const lane = new ExpressLane<Task>(new LevelSpec(spec.buffer));
  const slot = (isBusy: boolean): LaneSlot<Task> => ({ life: 'open', isBusy, attempts: new Map() });
  expect(lane.isWanted([slot(true), slot(false)])).toBe(false);
  expect(lane.isWanted([slot(true), slot(true)])).toBe(true);
  spec.set({ ...DEFAULT_MLFQ, levelWeightRatio: 1 });
  expect(lane.isWanted([slot(true), slot(true)])).toBe(false);
});

test('its tasks go on while a slot is idle, whatever they have had, and those that stay long are told', () => {
  const lane = new ExpressLane<Task>(new LevelSpec());
  const own = new Task(load('express', 'i'));
  const other = new Task(load('slot', 'b'));
  const slots = (isBusy: boolean): readonly LaneSlot<Task>[] => [
    { life: 'open', isBusy, attempts: new Map([[1, other]]) },
    { life: 'express', isBusy: true, attempts: new Map([[2, own]]) },
  ];
  const mayLeave = (): boolean => true;
  expect(lane.decide(slots(true), 0, mayLeave)).toEqual([]);
  own.cpuMs = 250;
  expect(lane.decide(slots(true), 10, stays)).toEqual([]);
  expect(own.isHeld).toBe(true);
  lane.decide(slots(false), 20, stays);
  expect(own.isHeld).toBe(false);
  // It leaves once its quantum has ended, and has none until then.
  own.isInside = true;
  expect(lane.decide(slots(false), 30, mayLeave)).toEqual([]);
  expect(own.isHeld).toBe(true);
  own.isInside = false;
  expect(lane.decide(slots(false), 40, mayLeave)).toEqual([own]);
});
