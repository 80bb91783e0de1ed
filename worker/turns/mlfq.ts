import { DEFAULT_MLFQ, LEVELS, type MlfqSpec } from '#shared/mlfq-spec.ts';
import { must } from '#shared/must.ts';

/**
 * A multilevel feedback queue of tasks, after Trino's MultilevelSplitQueue: a task sinks to lower levels as its query's scheduled time
 * grows, and the levels share the slot, by default 16 : 8 : 4 : 2 : 1, while all of them are busy. The functions are pure: each returns the next
 * state, and the caller passes in measured times, in milliseconds.
 */
/** Most that one quantum adds to a level's account: a hung quantum must not starve its level for long. */
const LEVEL_CHARGE_MAX_MS = 30_000;

type Entry = {
  readonly level: number;
  /** Time within the level; the smallest goes first. */
  readonly priorityMs: number;
  /** Scheduled time of the whole query so far, in milliseconds. */
  readonly scheduledMs: number;
  readonly pinned: boolean;
  readonly runnable: boolean;
  readonly sequence: number;
};

export type Mlfq = {
  readonly spec: MlfqSpec;
  readonly tasks: ReadonlyMap<string, Entry>;
  /** Account of every level. */
  readonly levelMs: readonly number[];
  /** Priority of the task that each level last ran: new tasks start with it, so they neither starve the others nor wait for them. */
  readonly levelPriorityMs: readonly number[];
  readonly sequence: number;
};

const zeros = (): number[] => Array.from({ length: LEVELS }, () => 0);

export const emptyMlfq: Mlfq = {
  spec: DEFAULT_MLFQ,
  tasks: new Map(),
  levelMs: zeros(),
  levelPriorityMs: zeros(),
  sequence: 0,
};

/** The level of a query by its scheduled time. */
export const levelOf = (scheduledMs: number, { levelsMs }: MlfqSpec): number => {
  const level = levelsMs.findIndex((endMs) => scheduledMs < endMs);
  return level < 0 ? levelsMs.length : level;
};

/**
 * Puts another spec in force: each task is on the level that its time has there, and the levels begin anew to share the slot, because
 * their accounts were of other shares.
 */
export function withSpec(state: Mlfq, spec: MlfqSpec): Mlfq {
  const tasks = [...state.tasks].map(([id, entry]): readonly [string, Entry] => {
    const level = entry.pinned ? 0 : levelOf(entry.scheduledMs, spec);
    const priorityMs = level === entry.level ? entry.priorityMs : (state.levelPriorityMs[level] ?? 0);
    return [id, { ...entry, level, priorityMs }];
  });
  return { ...state, spec, tasks: new Map(tasks), levelMs: zeros() };
}

/** Adds a runnable task. `scheduledMs` is its query's scheduled time so far; a pinned task stays on the top level. */
export function addTask(state: Mlfq, id: string, scheduledMs: number, pinned: boolean): Mlfq {
  const level = pinned ? 0 : levelOf(scheduledMs, state.spec);
  const entry: Entry = {
    level,
    priorityMs: state.levelPriorityMs[level] ?? 0,
    scheduledMs,
    pinned,
    runnable: true,
    sequence: state.sequence,
  };
  return withTask({ ...compensate(state, level), sequence: state.sequence + 1 }, id, entry);
}

/** Tells what a task's query has had by now on all slots, its own time included: the task goes to the level of that. */
export function moveTask(state: Mlfq, id: string, scheduledMs: number, pinned: boolean): Mlfq {
  const entry = state.tasks.get(id);
  if (entry === undefined) return state;
  const had = Math.max(entry.scheduledMs, scheduledMs);
  const level = pinned ? 0 : levelOf(had, state.spec);
  if (level === entry.level) return withTask(state, id, { ...entry, scheduledMs: had, pinned });
  const priorityMs = state.levelPriorityMs[level] ?? 0;
  const moved = entry.runnable ? compensate(state, level) : state;
  return withTask(moved, id, { ...entry, level, priorityMs, scheduledMs: had, pinned });
}

export function removeTask(state: Mlfq, id: string): Mlfq {
  const tasks = new Map(state.tasks);
  tasks.delete(id);
  return { ...state, tasks };
}

/** Blocks a task, which waits for its reader or for helper threads. */
export function blockTask(state: Mlfq, id: string): Mlfq {
  const entry = state.tasks.get(id);
  return entry === undefined ? state : withTask(state, id, { ...entry, runnable: false });
}

/** Makes a blocked task runnable again, without precedence over the others of its level. */
export function wakeTask(state: Mlfq, id: string): Mlfq {
  const entry = state.tasks.get(id);
  if (entry === undefined || entry.runnable) return state;
  const priorityMs = Math.max(entry.priorityMs, state.levelPriorityMs[entry.level] ?? 0);
  return withTask(compensate(state, entry.level), id, { ...entry, runnable: true, priorityMs });
}

/** Picks the next task: from the level that is furthest behind its share, the task with the lowest priority time. */
export function pickTask(state: Mlfq): { readonly id: string; readonly state: Mlfq } | undefined {
  const level = pickLevel(state);
  if (level === undefined) return undefined;
  let found: { id: string; entry: Entry } | undefined;
  for (const [id, entry] of state.tasks) {
    if (entry.level === level && entry.runnable && (found === undefined || goesBefore(entry, found.entry))) {
      found = { id, entry };
    }
  }
  const { id, entry } = must(found, 'the level has a runnable task');
  return { id, state: { ...state, levelPriorityMs: state.levelPriorityMs.with(level, entry.priorityMs) } };
}

/** Charges a quantum to its task and level; one that crosses thresholds is charged to every level that it crossed. */
export function chargeTask(state: Mlfq, id: string, quantumMs: number): Mlfq {
  const entry = state.tasks.get(id);
  if (entry === undefined) return state;
  const scheduledMs = entry.scheduledMs + quantumMs;
  const level = entry.pinned ? 0 : levelOf(scheduledMs, state.spec);
  let rest = Math.min(quantumMs, LEVEL_CHARGE_MAX_MS);
  if (level === entry.level) {
    const charged = { ...state, levelMs: state.levelMs.with(level, (state.levelMs[level] ?? 0) + rest) };
    return withTask(charged, id, { ...entry, scheduledMs, priorityMs: entry.priorityMs + quantumMs });
  }
  const { levelsMs } = state.spec;
  const levelMs = state.levelMs.slice();
  let own = quantumMs;
  for (let crossed = entry.level; crossed < level; crossed++) {
    const width = (levelsMs[crossed] ?? 0) - (levelsMs[crossed - 1] ?? 0);
    const share = Math.min(width, rest);
    levelMs[crossed] = (levelMs[crossed] ?? 0) + share;
    rest -= share;
    own -= share;
  }
  levelMs[level] = (levelMs[level] ?? 0) + rest;
  const priorityMs = (state.levelPriorityMs[level] ?? 0) + own;
  const moved = isEmpty(state, level) ? compensate({ ...state, levelMs }, level) : { ...state, levelMs };
  return withTask(moved, id, { ...entry, level, scheduledMs, priorityMs });
}

/** Whether no task is runnable. */
export function isIdle(state: Mlfq): boolean {
  for (const { runnable } of state.tasks.values()) if (runnable) return false;
  return true;
}

/** Runnable tasks per level, for the statistics. */
export function levelDepths(state: Mlfq): number[] {
  const depths = zeros();
  for (const { level, runnable } of state.tasks.values()) if (runnable) depths[level] = (depths[level] ?? 0) + 1;
  return depths;
}

function pickLevel(state: Mlfq): number | undefined {
  let targetMs = topTargetMs(state);
  let picked: { level: number; ratio: number } | undefined;
  for (let level = 0; level < LEVELS; level++) {
    if (!isEmpty(state, level)) {
      const spentMs = state.levelMs[level] ?? 0;
      // A level that has had no time yet goes first as soon as another level has had some.
      const ratio = spentMs === 0 && targetMs === 0 ? 0 : targetMs / spentMs;
      if (picked === undefined || ratio > picked.ratio) picked = { level, ratio };
    }
    targetMs /= state.spec.levelWeightRatio;
  }
  return picked?.level;
}

/** The time that the top level should have had, in proportion to the level that is furthest ahead of its share. */
const topTargetMs = ({ spec, levelMs }: Mlfq): number =>
  Math.max(...levelMs.map((spentMs, level) => spentMs * spec.levelWeightRatio ** level));

/** Credits a level that was empty with its share, so that it cannot reclaim the time in which it had no work. */
function compensate(state: Mlfq, level: number): Mlfq {
  if (!isEmpty(state, level)) return state;
  return { ...state, levelMs: state.levelMs.with(level, topTargetMs(state) / state.spec.levelWeightRatio ** level) };
}

function isEmpty(state: Mlfq, level: number): boolean {
  for (const entry of state.tasks.values()) if (entry.level === level && entry.runnable) return false;
  return true;
}

const goesBefore = (a: Entry, b: Entry): boolean =>
  a.priorityMs < b.priorityMs || (a.priorityMs === b.priorityMs && a.sequence < b.sequence);

const withTask = (state: Mlfq, id: string, entry: Entry): Mlfq => ({
  ...state,
  tasks: new Map(state.tasks).set(id, entry),
});
