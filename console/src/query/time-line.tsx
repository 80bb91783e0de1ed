import type { ReactNode } from 'react';
import type { QueryRunProfile, TaskProfile } from '#coordinator/profile/profile-types.ts';
import { printMs } from '../app/print-figures.ts';

type Placed = TaskProfile & { readonly stage: number };
/** Tasks that the line shows of one worker. */
const TASKS_MAX = 200;

/** When each worker ran which task. */
export function TimeLine({ run }: { readonly run: QueryRunProfile }): ReactNode {
  const tasks: readonly Placed[] = run.stages.flatMap(({ stage, tasks: own }) =>
    own.map((task) => ({ ...task, stage })),
  );
  if (tasks.length === 0) return <p className="quiet">No task has run yet.</p>;
  const from = Math.min(...tasks.map(({ startMs }) => startMs));
  const span = Math.max(1, ...tasks.map(({ startMs, elapsedMs }) => startMs + elapsedMs - from));
  const workers = [...new Set(tasks.map(({ worker }) => worker))].toSorted();
  return (
    <ul className="time-line" aria-label="Tasks by worker">
      {workers.map((worker) => (
        <li key={worker}>
          <span className="quiet">{worker}</span>
          <span className="lane">
            {tasks
              .filter((task) => task.worker === worker)
              .slice(0, TASKS_MAX)
              .map(({ stage, task, startMs, elapsedMs, state }, at) => (
                <span
                  key={at}
                  className={`task stage-${stage % 6} ${state}`}
                  title={`stage ${stage}, task ${task}: ${state}, ${printMs(elapsedMs)}`}
                  style={{
                    left: `${((startMs - from) / span) * 100}%`,
                    width: `${Math.max(0.3, (elapsedMs / span) * 100)}%`,
                  }}
                />
              ))}
          </span>
        </li>
      ))}
    </ul>
  );
}
