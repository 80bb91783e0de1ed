import { SkeinError } from '#shared/error.ts';
import type { Election, Lead } from './election.ts';

/** Leads immediately and until it is closed. A term that cannot start rejects `started`. */
export function soleCandidate(lead: Lead): Election {
  const lost = new AbortController();
  const { promise: started, resolve, reject } = Promise.withResolvers<void>();
  const term = lead(lost.signal, resolve);
  term.catch(reject);
  started.catch(() => undefined);
  return {
    started,
    close: async () => {
      lost.abort(new SkeinError('QUERY_CANCELLED', 'the coordinator is shutting down'));
      await term.catch(() => undefined);
    },
  };
}
