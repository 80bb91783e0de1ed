import { ApiError, call, callJson } from '../api/call.ts';
import type { QueryState } from '../api/query-state.ts';
import { Store } from '../app/store.ts';
import { ResultSet } from '../result/result-set.ts';
import type { TabRecord } from '../tabs/tab-record.ts';
import { fetchRows } from './fetch-rows.ts';
import type { Outcome, TabRun } from './outcome.ts';

/** How often a statement that runs is asked how far it is. */
const PROGRESS_MS = 600;

/** A statement to run: of the text at `offset`, or none of it. */
export type Asked = { readonly sql: string; readonly offset: number | null };

type Options = {
  readonly parametersOf: (tab: TabRecord, sql: string) => unknown;
  readonly onStarted: (tab: TabRecord, run: { readonly queryId: string; readonly sql: string }) => void;
  readonly onEnded: (tab: TabRecord, outcome: Outcome) => void;
};

/** The statements that the tabs of this window run, one after the other in each tab. */
export class Runs {
  readonly state = new Store<ReadonlyMap<string, TabRun>>(new Map());
  readonly #aborts = new Map<string, AbortController>();
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  isRunning(tabId: string): boolean {
    return this.#aborts.has(tabId);
  }

  /** Runs statements in turn, up to the first that fails. */
  async run(tab: TabRecord, statements: readonly Asked[]): Promise<void> {
    if (this.#aborts.has(tab.id) || statements.length === 0) return;
    const abort = new AbortController();
    this.#aborts.set(tab.id, abort);
    this.#set(tab.id, { outcomes: [], shown: 0 });
    try {
      for (const asked of statements) {
        const outcome = await this.#one(tab, asked, abort.signal);
        if (outcome.state === 'failed') break;
      }
    } finally {
      this.#aborts.delete(tab.id);
      this.state.update((runs) => new Map(runs));
    }
  }

  /** Ends the statement that runs; its own request then answers that it was cancelled. */
  cancel(tabId: string): void {
    const running = this.state.value.get(tabId)?.outcomes.find(({ state }) => state === 'running');
    const abort = this.#aborts.get(tabId);
    if (running === undefined || abort === undefined) return;
    void call(`/api/query/${running.queryId}`, { method: 'DELETE' }).catch(() => abort.abort());
  }

  show(tabId: string, shown: number): void {
    const run = this.state.value.get(tabId);
    if (run !== undefined) this.#set(tabId, { ...run, shown });
  }

  async #one(tab: TabRecord, { sql, offset }: Asked, signal: AbortSignal): Promise<Outcome> {
    const queryId = crypto.randomUUID();
    const result = new ResultSet();
    const startedMs = performance.now();
    const outcome: Outcome = {
      queryId,
      sql,
      offset,
      state: 'running',
      startedMs,
      elapsedMs: 0,
      result,
      rowCount: 0,
      isCut: false,
      progress: null,
      error: null,
    };
    this.#put(tab.id, outcome);
    this.#options.onStarted(tab, { queryId, sql });
    const progress = this.#watch(tab.id, queryId);
    const ended = await this.#read(tab, outcome, signal);
    clearInterval(progress);
    const last = { ...ended, elapsedMs: Math.round(performance.now() - startedMs), rowCount: result.rowCount };
    this.#put(tab.id, last);
    this.#options.onEnded(tab, last);
    return last;
  }

  async #read(tab: TabRecord, outcome: Outcome, signal: AbortSignal): Promise<Outcome> {
    const { queryId, sql, result } = outcome;
    try {
      const parameters = this.#options.parametersOf(tab, sql);
      const isCut = await fetchRows(
        {
          path: '/api/query',
          body: {
            sql,
            ...(parameters === undefined ? {} : { parameters }),
            ...(tab.timeoutS === 0 ? {} : { timeout_ms: tab.timeoutS * 1_000 }),
          },
          headers: { 'x-skein-query-id': queryId, 'x-skein-source': 'console', 'x-skein-session': tab.session },
          rowLimit: tab.rowLimit,
          signal,
        },
        result,
        () => this.#part(tab.id, queryId, { rowCount: result.rowCount }),
      );
      return { ...outcome, state: 'done', isCut };
    } catch (thrown) {
      const error =
        thrown instanceof ApiError ? thrown : new ApiError(String(thrown), { code: 'INTERRUPTED', status: 0 });
      return { ...outcome, state: 'failed', error };
    }
  }

  #watch(tabId: string, queryId: string): ReturnType<typeof setInterval> {
    return setInterval(() => {
      void callJson<QueryState>(`/api/query/${queryId}`)
        .then((progress) => this.#part(tabId, queryId, { progress }))
        .catch(() => undefined);
    }, PROGRESS_MS);
  }

  #set(tabId: string, run: TabRun): void {
    this.state.update((runs) => new Map(runs).set(tabId, run));
  }

  /** Puts an outcome at its place, or behind the others. */
  #put(tabId: string, outcome: Outcome): void {
    const run = this.state.value.get(tabId) ?? { outcomes: [], shown: 0 };
    const at = run.outcomes.findIndex(({ queryId }) => queryId === outcome.queryId);
    const outcomes = at < 0 ? [...run.outcomes, outcome] : run.outcomes.with(at, outcome);
    this.#set(tabId, { outcomes, shown: at < 0 ? outcomes.length - 1 : run.shown });
  }

  /** Changes an outcome while it runs. */
  #part(tabId: string, queryId: string, change: Partial<Outcome>): void {
    const outcome = this.state.value.get(tabId)?.outcomes.find((one) => one.queryId === queryId);
    if (outcome?.state === 'running') this.#put(tabId, { ...outcome, ...change });
  }
}
