import { beginsPrivately } from '#shared/sql/private-statement.ts';
import { ApiError, call, callJson } from '../api/call.ts';
import type { QueryStateEntry } from '#coordinator/api/http/api-types.ts';
import { Store } from '../app/store.ts';
import { ResultSet } from '../result/result-set.ts';
import type { RowOrder, StartedRun, TabRecord } from '../tabs/tab-record.ts';
import { askWhetherCut, BrokenAnswer, fetchRows, type RowsRequest } from './fetch-rows.ts';
import type { Outcome, TabRun } from './outcome.ts';

/** How often a statement that runs is asked how far it is. */
const PROGRESS_MS = 600;
/** Pauses before a statement whose connection broke is asked for again. */
const PAUSES_MS = [500, 1_000, 2_000, 4_000, 8_000];

/** A statement to run: of the text at `offset`, or none of it. */
export type Asked = { readonly sql: string; readonly offset: number | null; readonly isExplain?: true };

type Options = {
  readonly parametersOf: (tab: TabRecord, sql: string) => unknown;
  readonly onStarted: (tab: TabRecord, run: StartedRun) => void;
  readonly onEnded: (tab: TabRecord, outcome: Outcome) => void;
  /** The rows of the run before are not kept any more. */
  readonly onForgotten: (tab: TabRecord) => void;
};

/**
 * The statements that the tabs of this window run, one after the other in each tab. The server keeps their rows for a while, so that a statement
 * outlives the page, and one whose connection broke is sent again under its id, which runs it once.
 */
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
    if (statements.length === 0) return;
    await this.#work(tab, async (signal) => {
      this.#set(tab.id, { outcomes: [], shown: 0 });
      for (const asked of statements) {
        const outcome = await this.#one(tab, { ...asked, order: null }, signal);
        if (outcome.state === 'failed') break;
      }
    });
  }

  /** Runs a statement again with its rows in another order. Does that fail, the rows stay as they are, with a note. */
  async sort(tab: TabRecord, shown: Outcome, order: RowOrder): Promise<void> {
    await this.#work(tab, async (signal) => {
      const at = this.state.value.get(tab.id)?.outcomes.indexOf(shown) ?? -1;
      if (at < 0) return;
      const { sql, offset } = shown;
      const sorted = await this.#one(tab, { sql, offset, order }, signal, at);
      if (sorted.state !== 'failed') return;
      this.#put(tab.id, { ...shown, note: sorted.error?.message ?? 'the rows were not sorted' }, at);
    });
  }

  /** Shows what an earlier page has begun: its rows if it has ended, else how far it is. */
  async resume(tab: TabRecord): Promise<void> {
    const { run } = tab;
    if (run === null) return;
    await this.#work(tab, async (signal) => {
      const begun = newOutcome({ ...run, order: run.order ?? null, offset: null });
      this.#set(tab.id, { outcomes: [begun], shown: 0 });
      const ended = await this.#follow(tab, begun, { path: `/api/query/${run.queryId}/result`, method: 'GET' }, signal);
      if (!this.state.value.has(tab.id)) return;
      if (ended.error?.code === 'QUERY_NOT_FOUND') {
        this.state.update((runs) => new Map([...runs].filter(([id]) => id !== tab.id)));
        this.#options.onForgotten(tab);
        return;
      }
      this.#put(tab.id, ended);
      this.#options.onEnded(tab, ended);
    });
  }

  /** Ends the statement that runs; its own request then answers that it was cancelled. */
  cancel(tabId: string): void {
    const running = this.state.value.get(tabId)?.outcomes.find(({ state }) => state === 'running');
    const abort = this.#aborts.get(tabId);
    if (running === undefined || abort === undefined) return;
    void call(`/api/query/${running.queryId}`, { method: 'DELETE' }).catch(() => abort.abort());
  }

  /** Lets the rows of a closed tab go. What runs goes on on the server, which keeps its rows for a while. */
  forget(tabId: string): void {
    this.#aborts.get(tabId)?.abort();
    this.state.update((runs) => new Map([...runs].filter(([id]) => id !== tabId)));
  }

  show(tabId: string, shown: number): void {
    const run = this.state.value.get(tabId);
    if (run !== undefined) this.#set(tabId, { ...run, shown });
  }

  async #work(tab: TabRecord, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.#aborts.has(tab.id)) return;
    const abort = new AbortController();
    this.#aborts.set(tab.id, abort);
    try {
      await work(abort.signal);
    } finally {
      this.#aborts.delete(tab.id);
      this.state.update((runs) => new Map(runs));
    }
  }

  /** @param at the outcome whose place this one takes; without it, it comes behind the others */
  async #one(tab: TabRecord, asked: Asked & Ordered, signal: AbortSignal, at?: number): Promise<Outcome> {
    const { sql, order, isExplain } = asked;
    const queryId = crypto.randomUUID();
    const startedMs = performance.now();
    const begun = newOutcome({ ...asked, queryId });
    this.#put(tab.id, begun, at);
    this.#options.onStarted(tab, { queryId, sql, order, ...(isExplain === undefined ? {} : { isExplain }) });
    const parameters = this.#options.parametersOf(tab, sql);
    const body = {
      sql,
      ...(parameters === undefined ? {} : { parameters }),
      ...(tab.timeoutS === 0 ? {} : { timeout_ms: tab.timeoutS * 1_000 }),
      ...(order === null ? {} : { order_by: [order] }),
      row_limit: tab.rowLimit,
      keep: true,
    };
    const ended = await this.#follow(tab, begun, { path: '/api/query', method: 'POST', body }, signal);
    const last = { ...ended, elapsedMs: Math.round(performance.now() - startedMs) };
    this.#put(tab.id, last);
    if (this.state.value.has(tab.id)) this.#options.onEnded(tab, last);
    return last;
  }

  /** Reads the rows of a statement to its end, while the page shows how far it is. */
  async #follow(tab: TabRecord, begun: Outcome, asked: Sent, signal: AbortSignal): Promise<Outcome> {
    const { queryId } = begun;
    const progress = this.#watch(tab.id, queryId);
    try {
      const isCut = await this.#read(tab, begun, asked, signal);
      return { ...begun, state: 'done', rowCount: begun.result.rowCount, isCut };
    } catch (thrown) {
      return { ...begun, state: 'failed', rowCount: begun.result.rowCount, error: errorOf(thrown) };
    } finally {
      clearInterval(progress);
    }
  }

  /** @returns whether there are more rows @throws ApiError, BrokenAnswer */
  async #read(tab: TabRecord, { queryId, sql, result }: Outcome, asked: Sent, signal: AbortSignal): Promise<boolean> {
    const headers = { 'x-skein-query-id': queryId, 'x-skein-source': 'console', 'x-skein-session': tab.session };
    const request = { ...asked, headers, rowLimit: tab.rowLimit, signal };
    const isKept = !beginsPrivately(sql);
    for (let tries = 0; ; tries += 1) {
      try {
        const isCut = await fetchRows(request, result, () =>
          this.#part(tab.id, queryId, { rowCount: result.rowCount, isTryingAgain: false }),
        );
        if (isCut || !isKept) return isCut;
        return result.rowCount < tab.rowLimit ? false : ((await askWhetherCut(queryId, signal)) ?? true);
      } catch (thrown) {
        const pauseMs = PAUSES_MS[tries];
        // Nothing says whether one that is not kept has run.
        if (!isKept || !isBroken(thrown) || pauseMs === undefined || signal.aborted) throw thrown;
        this.#part(tab.id, queryId, { isTryingAgain: true });
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        result.clear();
      }
    }
  }

  #watch(tabId: string, queryId: string): ReturnType<typeof setInterval> {
    return setInterval(() => {
      void callJson<QueryStateEntry>(`/api/query/${queryId}`)
        .then((progress) => this.#part(tabId, queryId, { progress }))
        .catch(() => undefined);
    }, PROGRESS_MS);
  }

  #set(tabId: string, run: TabRun): void {
    this.state.update((runs) => new Map(runs).set(tabId, run));
  }

  /** Puts an outcome at its place, or behind the others; of a tab that was closed meanwhile nothing is shown. */
  #put(tabId: string, outcome: Outcome, place?: number): void {
    const run = this.state.value.get(tabId);
    if (run === undefined) return;
    const at = place ?? run.outcomes.findIndex(({ queryId }) => queryId === outcome.queryId);
    const outcomes = at < 0 ? [...run.outcomes, outcome] : run.outcomes.with(at, outcome);
    this.#set(tabId, { outcomes, shown: at < 0 ? outcomes.length - 1 : run.shown });
  }

  /** Changes an outcome while it runs. */
  #part(tabId: string, queryId: string, change: Partial<Outcome>): void {
    const outcome = this.state.value.get(tabId)?.outcomes.find((one) => one.queryId === queryId);
    if (outcome?.state === 'running') this.#put(tabId, { ...outcome, ...change });
  }
}

type Ordered = { readonly order: RowOrder | null };
type Sent = Pick<RowsRequest, 'path' | 'method' | 'body'>;

const newOutcome = ({ isExplain, ...of }: Asked & Ordered & { readonly queryId: string }): Outcome => ({
  ...of,
  isExplain: isExplain === true,
  state: 'running',
  elapsedMs: null,
  result: new ResultSet(),
  rowCount: 0,
  isCut: false,
  progress: null,
  isTryingAgain: false,
  note: '',
  error: null,
});

const isBroken = (thrown: unknown): boolean =>
  thrown instanceof BrokenAnswer || (thrown instanceof ApiError && thrown.code === 'OFFLINE');

const errorOf = (thrown: unknown): ApiError =>
  thrown instanceof ApiError
    ? thrown
    : new ApiError(thrown instanceof Error ? thrown.message : String(thrown), { code: 'INTERRUPTED', status: 0 });
