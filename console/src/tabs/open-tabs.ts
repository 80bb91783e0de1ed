import { beginsPrivately } from '#shared/sql/private-statement.ts';
import { Store } from '../app/store.ts';
import { holdTab, ownTabs, rememberTabs } from './hold-tab.ts';
import { TabDatabase } from './tab-database.ts';
import { newTab, type TabRecord } from './tab-record.ts';

/** Closed tabs that can come back. */
const CLOSED_MAX = 50;
/** How long a change waits for the next one before it is written. */
const SAVE_DELAY_MS = 250;

export type TabsState = {
  readonly isLoaded: boolean;
  readonly tabs: readonly TabRecord[];
  readonly activeId: string;
  /** Tabs that were closed, the last one first; those of other windows are not among them. */
  readonly closed: readonly TabRecord[];
};

/** The tabs of this window. Texts change without a word to React: the editor shows them. */
export class OpenTabs {
  readonly state = new Store<TabsState>({ isLoaded: false, tabs: [], activeId: '', closed: [] });
  readonly #database: TabDatabase;
  readonly #held = new Map<string, { readonly release: () => void }>();
  readonly #texts = new Map<string, { readonly text: string; readonly cursor: number }>();
  #isLoading = false;
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  /** Tabs whose text was private when it was written last: their parameters are of that text. */
  readonly #private = new Set<string>();

  constructor(owner: string) {
    this.#database = new TabDatabase(owner);
  }

  /** Opens the tabs that no other window has. @param text of a link, for a tab of its own */
  async load(text: string | null): Promise<void> {
    if (this.#isLoading) return;
    this.#isLoading = true;
    const records = (await this.#database.all().catch(() => [])).toSorted((a, b) => a.order - b.order);
    const own = ownTabs();
    const open = records.filter(({ closedAtMs }) => closedAtMs === null);
    const held = await Promise.all(open.map(({ id }) => this.#hold(id, own.ids.has(id))));
    const tabs: TabRecord[] = open.filter((_, at) => held[at]);
    if (text !== null || tabs.length === 0) tabs.push(await this.#made(nextOrder(records), text ?? ''));
    const closed = closedOf(records);
    for (const { id } of closed.slice(CLOSED_MAX)) void this.#database.remove(id);
    const isBack = text === null && tabs.some(({ id }) => id === own.activeId);
    const activeId = isBack ? own.activeId : (tabs.at(-1)?.id ?? '');
    this.state.update(() => ({ isLoaded: true, tabs, activeId, closed: closed.slice(0, CLOSED_MAX) }));
    this.state.subscribe(() => this.#remember());
    this.#remember();
  }

  get active(): TabRecord | undefined {
    const { tabs, activeId } = this.state.value;
    return tabs.find(({ id }) => id === activeId);
  }

  textOf({ id, text, cursor }: TabRecord): { readonly text: string; readonly cursor: number } {
    return this.#texts.get(id) ?? { text, cursor };
  }

  /** The editor has changed the text of a tab. */
  typed(id: string, text: string, cursor: number): void {
    this.#texts.set(id, { text, cursor });
    this.#save(id);
  }

  change(id: string, change: Partial<TabRecord>): void {
    this.state.update((state) => ({
      ...state,
      tabs: state.tabs.map((tab) => (tab.id === id ? { ...tab, ...change } : tab)),
    }));
    this.#save(id);
  }

  activate(activeId: string): void {
    this.state.update((state) => ({ ...state, activeId }));
  }

  async add(text = ''): Promise<TabRecord> {
    const tab = await this.#made(nextOrder(this.state.value.tabs), text);
    this.state.update((state) => ({ ...state, tabs: [...state.tabs, tab], activeId: tab.id }));
    this.#save(tab.id);
    return tab;
  }

  /** Closes a tab; one is always open. */
  async close(id: string): Promise<void> {
    const { tabs } = this.state.value;
    const at = tabs.findIndex((tab) => tab.id === id);
    const tab = tabs[at];
    if (tab === undefined) return;
    if (tabs.length === 1) await this.add();
    const closed = { ...tab, ...this.textOf(tab), closedAtMs: Date.now() };
    this.state.update((state) => {
      const rest = state.tabs.filter((one) => one.id !== id);
      const activeId = state.activeId === id ? (rest[Math.max(0, at - 1)]?.id ?? '') : state.activeId;
      const isKept = closed.text.trim() !== '' && !beginsPrivately(closed.text);
      return { ...state, tabs: rest, activeId, closed: isKept ? [closed, ...state.closed] : state.closed };
    });
    clearTimeout(this.#timers.get(id));
    await this.#write(closed);
    this.#held.get(id)?.release();
    this.#held.delete(id);
  }

  /** Opens a closed tab again, as the browser keeps it: another window may have had it, and written more, since this one has closed it. */
  async reopen(id: string): Promise<void> {
    const tab = this.state.value.closed.find((one) => one.id === id);
    if (tab === undefined) return;
    const isHeld = await this.#hold(id);
    this.state.update((state) => ({ ...state, closed: state.closed.filter((one) => one.id !== id) }));
    // Another window shows it.
    if (!isHeld) return;
    const kept = (await this.#database.get(id).catch(() => undefined)) ?? tab;
    this.#texts.delete(id);
    const open = { ...kept, closedAtMs: null, order: nextOrder(this.state.value.tabs) };
    this.state.update((state) => ({ ...state, tabs: [...state.tabs, open], activeId: id }));
    this.#save(id);
  }

  /** Writes what waits, and lets other windows, and other users of this one, have the tabs. */
  end(): void {
    this.flush();
    for (const { release } of this.#held.values()) release();
    this.#held.clear();
  }

  /** Writes at once what waits: the page is about to go. */
  flush(): void {
    for (const id of this.#timers.keys()) this.#saveNow(id);
  }

  #remember(): void {
    const { tabs, activeId } = this.state.value;
    rememberTabs(
      tabs.map(({ id }) => id),
      activeId,
    );
  }

  async #made(order: number, text: string): Promise<TabRecord> {
    const tab = newTab(order, text);
    await this.#hold(tab.id);
    return tab;
  }

  async #hold(id: string, isOwn = false): Promise<boolean> {
    const held = await holdTab(id, isOwn);
    if (held !== null) this.#held.set(id, held);
    return held !== null;
  }

  #save(id: string): void {
    if (this.#timers.has(id)) return;
    this.#timers.set(
      id,
      setTimeout(() => this.#saveNow(id), SAVE_DELAY_MS),
    );
  }

  #saveNow(id: string): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    const tab = this.state.value.tabs.find((one) => one.id === id);
    if (tab === undefined) return;
    const written = { ...tab, ...this.textOf(tab) };
    const wasPrivate = this.#private.delete(id);
    const isPrivate = beginsPrivately(written.text);
    if (isPrivate) this.#private.add(id);
    const isOver = wasPrivate && !isPrivate;
    if (isOver) this.change(id, { parameters: {} });
    void this.#write(isOver ? { ...written, parameters: {} } : written);
  }

  /** A text with a password, key or token is not kept, and neither is such a statement that has run: the tab comes back without it. */
  async #write(record: TabRecord): Promise<void> {
    const run = record.run !== null && beginsPrivately(record.run.sql) ? null : record.run;
    const kept = beginsPrivately(record.text)
      ? { ...record, text: '', cursor: 0, run: null, parameters: {} }
      : { ...record, run };
    await (
      record.closedAtMs !== null && kept.text.trim() === ''
        ? this.#database.remove(record.id)
        : this.#database.put(kept)
    ).catch(() => undefined);
  }
}

const nextOrder = (tabs: readonly TabRecord[]): number => Math.max(0, ...tabs.map(({ order }) => order)) + 1;

const closedOf = (records: readonly TabRecord[]): readonly TabRecord[] =>
  records.filter(({ closedAtMs }) => closedAtMs !== null).toSorted((a, b) => (b.closedAtMs ?? 0) - (a.closedAtMs ?? 0));
