import { TASK_MEMORY_BYTES_MIN } from '#shared/task/task.ts';
import type { StageRoom } from '../distributor/estimate/cluster-cores.ts';
import type { WorkerInfo } from '../cluster/worker-info.ts';
import { NARROW_MEMORY_BYTES } from './choose-width.ts';
import type { StageRun } from './stage-run.ts';
import type { TaskOwner } from './task-spec.ts';

/** A task that reads at most this many bytes gets a small memory limit. */
const SMALL_TASK_BYTES = 8 * 2 ** 20;

type TaskPlace = {
  /** Number of workers that take tasks. */
  readonly workers: number;
  readonly worker: WorkerInfo;
  readonly room: StageRoom;
  readonly threads: number;
  /** Bytes that the task reads. */
  readonly bytes: number;
};

/**
 * Returns the memory limit of a task: its share, by cores, of the query's memory on a worker, or all of it for a query that runs whole. A
 * narrow query, and a task that reads little, get at most `NARROW_MEMORY_BYTES`. A small grant never takes a task below
 * `TASK_MEMORY_BYTES_MIN`: where other queries hold the memory, or the workers that had it are away, the task waits on its worker instead.
 */
export function taskMemory(
  stage: StageRun,
  owner: Pick<TaskOwner, 'memoryLimitBytes' | 'growMemory'>,
  { workers, worker, room, threads, bytes }: TaskPlace,
): number {
  const { fragment } = stage;
  const limit = Math.min(owner.memoryLimitBytes, worker.memoryLimitBytes);
  if (fragment.plan === null) {
    const wanted = fragment.width === 1 ? Math.min(limit, NARROW_MEMORY_BYTES) : limit;
    return atLeast(steady(wanted, owner.growMemory(wanted)), wanted);
  }
  const parts = Math.max(1, workers);
  // Once a stage, so that its tasks have equal limits.
  stage.memoryBytes ??= owner.growMemory(limit * parts);
  const shareOf = (bytesOfWorker: number): number => Math.floor((bytesOfWorker * threads) / room.cores);
  const ownShare = atLeast(shareOf(steady(limit, stage.memoryBytes / parts)), shareOf(limit));
  return bytes <= SMALL_TASK_BYTES ? Math.min(ownShare, NARROW_MEMORY_BYTES) : ownShare;
}

/** Returns `granted` but no less than a task needs, unless all that it wanted is less. */
const atLeast = (granted: number, wanted: number): number => Math.max(granted, Math.min(wanted, TASK_MEMORY_BYTES_MIN));

/**
 * Returns `wanted` or, if it is not granted, the largest of its three quarters, half, three eighths, quarter, ... that is: an instance returns
 * its freed pages whenever its limit changes, so tasks should have few different ones.
 */
function steady(wanted: number, granted: number): number {
  const halvings = Math.max(0, Math.ceil(Math.log2(wanted / Math.max(1, granted))));
  const half = wanted / 2 ** halvings;
  return Math.floor(halvings > 0 && half * 1.5 <= granted ? half * 1.5 : half);
}
