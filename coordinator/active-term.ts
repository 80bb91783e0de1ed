import { setTimeout as sleep } from 'node:timers/promises';
import type { Candidate } from '#shared/membership/election.ts';
import { NotActive } from './cluster/not-active.ts';
import type { ClusterView } from './observe/cluster-view.ts';
import type { Events } from './observe/event-hub.ts';
import type { QueryService, StatementRequest } from './query/query-service.ts';
import type { Term } from './start-term.ts';

const IDLE_POLL_MS = 20;

/** The term that this coordinator serves while it leads, and to its end after it has handed over the lead. */
export class ActiveTerm {
  /** The one that leads, when it is another. */
  leader: () => Candidate | undefined = () => undefined;
  term: Term | undefined;
  /** Connections that are in a transaction, which a hand-over waits for. */
  inTransaction: () => number = () => 0;
  #handsOver = false;
  #executing = 0;

  /** The term, while it takes new statements. */
  get open(): Term | undefined {
    return this.#handsOver ? undefined : this.term;
  }

  /** Why no door serves anything; undefined while there is a term, also one that is handed over: its results are still read. */
  get standby(): string | undefined {
    return this.term === undefined ? this.notActive().message : undefined;
  }

  /** Whether the lead is handed over: what has begun goes on, and transactions to their end. */
  get isLeaving(): boolean {
    return this.#handsOver && this.term !== undefined;
  }

  /** From now on new statements are refused, but for those of transactions that are open. */
  close(): void {
    this.#handsOver = true;
  }

  /** Resolves when no statement runs, all results are read, and no connection is in a transaction. */
  async idle(signal: AbortSignal): Promise<void> {
    while ((this.#executing > 0 || this.inTransaction() > 0) && !signal.aborted) await sleep(IDLE_POLL_MS);
  }

  queries(): QueryService {
    const any = (): QueryService => {
      if (this.term === undefined) throw this.notActive();
      return this.term.queries;
    };
    const open = (): QueryService => {
      if (this.open === undefined) throw this.notActive();
      return this.open.queries;
    };
    const forStatement = ({
      session,
      transaction,
    }: Pick<StatementRequest, 'session' | 'transaction'>): QueryService => {
      const within = transaction === null ? null : (transaction ?? session);
      const goesOn = this.isLeaving && within !== null && any().session(within).transaction !== null;
      return goesOn ? any() : open();
    };
    return {
      execute: async (request) => {
        const queries = forStatement(request);
        this.#executing += 1;
        try {
          await queries.execute(request);
        } finally {
          this.#executing -= 1;
        }
      },
      describe: async (request) => forStatement(request).describe(request),
      timeoutMs: (session) => forStatement({ session }).timeoutMs(session),
      session: (session) => open().session(session),
      cursors: (owner) => any().cursors(owner),
      endSession: async (session) => any().endSession(session),
      live: (caller, filter) => any().live(caller, filter),
      find: (caller, queryId, owner) => any().find(caller, queryId, owner),
      cancel: (caller, queryId, owner) => any().cancel(caller, queryId, owner),
      quarantined: (caller) => any().quarantined(caller),
      lift: async (caller, id) => any().lift(caller, id),
    };
  }

  view(): ClusterView {
    const view = (): ClusterView => {
      if (this.term === undefined) throw this.notActive();
      return this.term.view;
    };
    return {
      groups: (caller) => view().groups(caller),
      cluster: () => view().cluster(),
      feedbackQueue: () => view().feedbackQueue(),
      workloadProblem: () => view().workloadProblem(),
      series: () => view().series(),
      workersApart: () => view().workersApart(),
    };
  }

  events(): Events {
    return {
      open: (caller, request, sink) => {
        if (this.open === undefined) throw this.notActive();
        return this.open.events.open(caller, request, sink);
      },
    };
  }

  notActive(): NotActive {
    return new NotActive(this.leader());
  }
}
