import { coreMs } from './finished-task.ts';
import type { StageReport } from './stage-report.ts';
import { stageTasks, type StageState } from './stage-state.ts';

/** Progress of one run of a query. */
export type RunProgress = {
  /** Tasks that are known by now: later stages, and files that no worker has asked for yet, add more. */
  readonly tasks: number;
  readonly tasksDone: number;
  readonly tasksRunning: number;
  /** Bytes that its tasks have read from storage, as far as it is known, whether they run, ended well, or were given up. */
  readonly bytesScanned: number;
  /** Time that they have had on cores, and those that run as far as it is known, in ms. */
  readonly coreMs: number;
  /** Attempts to run a task that were given up for another. */
  readonly retries: number;
  /** Names of the workers that run tasks of it now. */
  readonly workers: readonly string[];
};

/** The known state of one run of a query, at any time. */
export interface RunView {
  readonly progress: RunProgress;
  /** The stages that have begun, in that order. */
  readonly stages: readonly StageReport[];
}

export const NO_PROGRESS: RunProgress = {
  tasks: 0,
  tasksDone: 0,
  tasksRunning: 0,
  bytesScanned: 0,
  coreMs: 0,
  retries: 0,
  workers: [],
};

type Stage = { readonly state: StageState; readonly retries: number };

export const NOT_RUN: RunView = { progress: NO_PROGRESS, stages: [] };

/** A task that runs: its worker's name, its cores, and its scheduled time as far as it is known. */
type Running = {
  readonly worker: { readonly info: { readonly name: string } };
  readonly threads: number;
  readonly timedMs: number;
};

export function runProgress(stages: readonly Stage[], running: readonly Running[]): Omit<RunProgress, 'bytesScanned'> {
  const tasks = stages.flatMap(({ state }) => stageTasks(state));
  const done = tasks.flatMap((task) => (task.kind === 'done' ? [task.output.report] : []));
  return {
    tasks: tasks.length,
    tasksDone: done.length,
    tasksRunning: running.length,
    coreMs:
      done.reduce((sum, report) => sum + coreMs(report), 0) +
      running.reduce((sum, { timedMs, threads }) => sum + timedMs * threads, 0),
    retries: stages.reduce((sum, { retries }) => sum + retries, 0),
    workers: [...new Set(running.map(({ worker }) => worker.info.name))],
  };
}
