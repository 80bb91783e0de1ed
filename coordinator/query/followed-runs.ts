import type { Work } from '../history/query-state.ts';
import { NOT_RUN, type RunView } from '../scheduler/run-progress.ts';

/** The runs of a statement's queries: the one that is followed, and what those before it have cost. */
type FollowedRuns = {
  readonly count: number;
  readonly view: RunView;
  /** Rows that the run has given to the client. */
  readonly rows: () => number;
  readonly earlier: RunCosts;
};
type RunCosts = Omit<Work, 'rowsProduced'>;

export const NO_RUNS: FollowedRuns = {
  count: 0,
  view: NOT_RUN,
  rows: () => 0,
  earlier: { bytesScanned: 0, fragments: 0 },
};

/** The next run, which replaces the one before. */
export const followed = (runs: FollowedRuns, view: RunView, rows: () => number): FollowedRuns => ({
  count: runs.count + 1,
  view,
  rows,
  earlier: costsOf(runs),
});

/** Costs of all runs so far. */
export const costsOf = ({ view: { progress, stages }, earlier }: FollowedRuns): RunCosts => ({
  bytesScanned: earlier.bytesScanned + progress.bytesScanned,
  fragments: earlier.fragments + stages.length,
});
