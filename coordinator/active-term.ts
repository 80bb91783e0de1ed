import { setTimeout as sleep } from 'node:timers/promises';
import type { Candidate } from '#shared/membership/election.ts';
import { NotActive } from './cluster/not-active.ts';
import type { ClusterView } from './observe/cluster-view.ts';
import type { Events } from './observe/event-hub.ts';
import type { QueryService } from './query/query-service.ts';
import type { Term } from './start-term.ts';

const IDLE_POLL_MS = 20;

/** The term that this coordinator serves while it leads, and to its end after it has handed over the lead. */
export class ActiveTerm {
  /** The one that leads, when it is another. */
  leader: () => Candidate | undefined = () => undefined;
  term: Term | undefined;
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

  /** From now on new statements are refused. */
  close(): void {
    this.#handsOver = true;
  }

  /** Resolves when no statement runs and all results are read. */
  async idle(signal: AbortSignal): Promise<void> {
    while (this.#executing > 0 && !signal.aborted) await sleep(IDLE_POLL_MS);
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
    return {
      execute: async (request) => {
        const queries = open();
        this.#executing += 1;
        try {
          await queries.execute(request);
        } finally {
          this.#executing -= 1;
        }
      },
      describe: async (request) => open().describe(request),
      timeoutMs: (session) => open().timeoutMs(session),
      session: (session) => open().session(session),
      cursors: (session) => any().cursors(session),
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
