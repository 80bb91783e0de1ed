import type { WriteSink } from '#shared/task/task.ts';
import { atMost } from '#shared/at-most.ts';
import type { QueryId } from '#shared/id.ts';
import type { ResultBatch } from '../sink/result-sink.ts';
import type { RowEncoding } from '../sink/row-encoding.ts';
import { TaskDispatcher } from './dispatch-tasks.ts';
import { ResultReader } from './result-reader.ts';
import { newRunId } from './run-id.ts';
import type { RunView } from './run-progress.ts';
import type { Scheduler } from './scheduler.ts';
import type { StageRun } from './stage-run.ts';
import type { TaskOwner } from './task-spec.ts';

/** A query that runs, whole or in stages, and the receiver of its rows. */
export type QueryRun = Omit<TaskOwner, 'queryId' | 'epoch' | 'spillLimitBytes'> & {
  /** The client's query id; each run gets its own. */
  readonly queryId: QueryId;
  readonly encoding: RowEncoding;
  /** Where the last stage's tasks write files; null = their rows are the result. */
  readonly sink: WriteSink | null;
  readonly signal: AbortSignal;
  /** Called when a run of the query begins, with the run's id. */
  readonly onRun: (run: QueryId, view: RunView) => void;
  /** Called when the result begins, perhaps again: rows of earlier attempts are void. */
  readonly onStart: () => void;
  readonly onBatch: (batch: ResultBatch) => Promise<void> | undefined;
  /** Whether the result may begin again: nothing of it has been sent. */
  readonly mayStartOver: () => boolean;
};

/** Time that a failed query waits for its workers to drop what they hold of it. */
const END_WAIT_MAX_MS = 300;

/** Runs a query once, under an id of its own. Before it throws, the workers were told to drop what they hold of this run. */
export async function oneRun<T>(
  scheduler: Scheduler,
  query: QueryRun,
  work: (dispatcher: TaskDispatcher) => Promise<T>,
): Promise<T> {
  const { epoch, spillLimitBytes, running } = scheduler;
  const runId = newRunId(query.queryId, epoch);
  const owner = { ...query, queryId: runId, epoch, spillLimitBytes };
  const dispatcher = new TaskDispatcher({ scheduler, owner, signal: query.signal });
  running.set(runId, dispatcher);
  query.onRun(runId, dispatcher);
  let succeeded = false;
  try {
    query.onStart();
    const result = await work(dispatcher);
    succeeded = true;
    return result;
  } finally {
    const ended = dispatcher.end().finally(() => running.delete(runId));
    // A client that has all rows need not wait for the cleanup. One whose query failed waits only briefly, in case a worker does not
    // respond.
    if (!succeeded) await atMost(ended, END_WAIT_MAX_MS);
  }
}

/** Makes the reader of a query's result, which begins again when a task failed whose rows were delivered in part. */
const resultReader = ({ encoding, onBatch, onStart, mayStartOver }: QueryRun): ResultReader =>
  new ResultReader({
    newReader: encoding.newReader,
    onBatch,
    restart: () => {
      if (!mayStartOver()) return false;
      onStart();
      return true;
    },
  });

/** Where the rows of a query's last stage go. */
export const destinationOf = (query: QueryRun): Pick<StageRun, 'result' | 'sink'> =>
  query.sink === null ? { result: resultReader(query), sink: null } : { result: null, sink: query.sink };
