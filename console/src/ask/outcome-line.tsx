import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { adviceFor } from '../app/advice.ts';
import type { Outcome, TabRun } from '../runs/outcome.ts';
import { tellOutcome } from '../runs/tell-outcome.ts';

type Props = { readonly run: TabRun; readonly shown: Outcome; readonly onShow: (at: number) => void };

/** The end of the run in words, and that of each of its statements. */
export function OutcomeLine({ run, shown, onShow }: Props): ReactNode {
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
