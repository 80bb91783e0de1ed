import { SkeinError } from '#shared/error.ts';
import type { Election, Lead, LeadProof } from './election.ts';

/** Leads immediately and until it is closed, whoever led before. A term that cannot start rejects `started`. */
export function soleCandidate(lead: Lead, proof: LeadProof): Election {
  const lost = new AbortController();
  const { promise: started, resolve, reject } = Promise.withResolvers<void>();
  const term = proof.take(true).then(() => lead(lost.signal, resolve));
  term.catch(reject);
  started.catch(() => undefined);
  return {
    started,
    leader: () => undefined,
    handOver: () => Promise.resolve(),
    close: async () => {
      lost.abort(new SkeinError('NOT_ACTIVE', 'the coordinator is shutting down'));
      await term.catch(() => undefined);
      await proof.release();
    },
  };
}
