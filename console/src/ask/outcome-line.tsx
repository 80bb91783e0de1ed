import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { adviceFor } from '../app/advice.ts';
import { LeaderLink } from '../app/leader-link.tsx';
import type { Outcome, TabRun } from '../runs/outcome.ts';
import { tellOutcome } from '../runs/tell-outcome.ts';

type Props = {
  readonly run: TabRun;
  readonly shown: Outcome;
  readonly onShow: (at: number) => void;
  /** Asks for the rows of the last statement again. */
  readonly onResume: () => void;
};

/** Errors of the way to the coordinator: the statement may have gone on. */
const LOST_WAY = new Set(['OFFLINE', 'INTERRUPTED']);

/** The end of the run in words, and that of each of its statements. */
export function OutcomeLine({ run, shown, onShow, onResume }: Props): ReactNode {
  const { error, queryId, state } = shown;
  return (
    <div className="bar outcome">
      {run.outcomes.length > 1
        ? run.outcomes.map((outcome, at) => (
            <button
              key={outcome.queryId}
              type="button"
              aria-pressed={outcome === shown}
              title={outcome.sql.slice(0, 200)}
              onClick={() => onShow(at)}
            >
              {at + 1} {outcome.state === 'failed' ? '✗' : outcome.state === 'done' ? '✓' : '…'}
            </button>
          ))
        : null}
      {error === null ? (
        <span role="status">{tellOutcome(shown)}</span>
      ) : (
        <div role="alert">
          <strong>{error.code}</strong>: {error.message}
          <div className="quiet">{adviceFor(error)}</div>
          <LeaderLink error={error} />
          {LOST_WAY.has(error.code) ? (
            <button type="button" onClick={onResume}>
              Ask for its rows again
            </button>
          ) : null}
        </div>
      )}
      {state === 'running' ? null : (
        <Link href={`/queries/${queryId}`} className="quiet">
          {state === 'failed' ? `Query ${queryId}` : 'Why so long?'}
        </Link>
      )}
    </div>
  );
}
