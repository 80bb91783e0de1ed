import { SkeinError } from '#shared/error.ts';
import type { QueryId } from '#shared/id.ts';

/** The run and the age of the quantum for which a worker ends itself. */
export type HungRun = { readonly queryId: QueryId; readonly quantumMs: number };

/**
 * The error of the tasks on a worker that ended itself, because a quantum of one run did not stop at its interrupt. All other queries lose
 * a worker without being suspected: their tasks run again at once, and the loss does not count as an attempt. A new process starts within
 * seconds.
 */
export class WorkerEnding extends SkeinError {
  readonly hung: HungRun;

  constructor(hung: HungRun) {
    super('WORKER_LOST', 'a worker was ended while it ran the query, because of another query');
    this.hung = hung;
  }
}

/** Makes the error that ends the run that hung a worker; the run is not tried again. */
export const queryKilled = ({ quantumMs }: HungRun): SkeinError =>
  new SkeinError(
    'QUERY_KILLED',
    `one step of the query took ${quantumMs} ms and did not stop when it had to, so a worker was ended because of it`,
  );
