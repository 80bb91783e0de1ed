import type { Clock } from '#shared/clock.ts';
import type { ClassCounts } from '../workload/work-class.ts';
import type { ClusterPoint, ClusterState, ClusterView, WorkerView } from './cluster-view.ts';

/** Interval of the points, and how many are kept: an hour. */
export const SERIES_STEP_MS = 5_000;
const POINTS_MAX = 720;

type SeriesParts = {
  readonly view: Pick<ClusterView, 'cluster'>;
  readonly admission: { countClasses(): ClassCounts };
  readonly clock: Pick<Clock, 'nowMs'>;
};

/** The figures of the cluster over the last hour of this term. */
export class ClusterSeries implements Disposable {
  readonly #parts: SeriesParts;
  readonly #points: ClusterPoint[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(parts: SeriesParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => this.look(), SERIES_STEP_MS).unref();
    this.look();
  }

  /** The oldest first. */
  get points(): readonly ClusterPoint[] {
    return this.#points;
  }

  /** Takes a point. */
  look(): void {
    const { view, admission, clock } = this.#parts;
    this.#points.push(pointOf(view.cluster(), admission.countClasses(), clock.nowMs()));
    if (this.#points.length > POINTS_MAX) this.#points.shift();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

function pointOf({ running, queued, workers }: ClusterState, classes: ClassCounts, atMs: number): ClusterPoint {
  const sum = (of: (worker: WorkerView) => number | null): number =>
    workers.reduce((all, worker) => all + (of(worker) ?? 0), 0);
  return {
    atMs,
    running,
    queued,
    classes,
    slots: sum(({ slots }) => slots),
    tasks: sum(({ runningTasks }) => runningTasks),
    memoryLimitBytes: sum(({ memoryLimitBytes }) => memoryLimitBytes),
    memoryGrantedBytes: sum(({ memoryGrantedBytes }) => memoryGrantedBytes),
    spoolBytes: sum(({ spoolBytes }) => spoolBytes),
  };
}
