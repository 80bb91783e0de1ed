import type { ReactNode } from 'react';
import type { ApiError } from '../api/call.ts';
import { adviceFor } from './advice.ts';
import { LeaderLink } from './leader-link.tsx';

/** An error of a request, and what to do about it. */
export function Problem({ error }: { readonly error: ApiError }): ReactNode {
  return (
    <div role="alert" className="problem">
      <strong>{error.code}</strong>: {error.message}
      <div className="quiet">{adviceFor(error)}</div>
      <LeaderLink error={error} />
    </div>
  );
}
