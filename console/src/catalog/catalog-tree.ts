import type { BrowsedObject, BrowsedPage } from '#coordinator/api/browse/browse-operations.ts';
import { callJson } from '../api/call.ts';
import { Store } from '../app/store.ts';

/** The children of a place, as far as they were asked for. */
type Children = {
  readonly objects: readonly BrowsedObject[];
  readonly next: string | null;
  readonly state: 'loading' | 'there' | 'failed';
  readonly problem: string;
};

export type TreeState = {
  readonly open: ReadonlySet<string>;
  readonly children: ReadonlyMap<string, Children>;
  readonly search: string;
  readonly found: Children | null;
  /** The line to bring into sight; null: none. */
  readonly shown: string | null;
};

/** A place of the catalog by its names; null below the last that is meant. */
type NamedPlace = { readonly catalog: string | null; readonly schema: string | null; readonly object: string | null };

/** A line of the tree that is drawn. */
export type TreeLine = { readonly key: string; readonly level: number } & (
  | { readonly kind: 'object'; readonly object: BrowsedObject; readonly isOpen: boolean | undefined }
  | { readonly kind: 'more'; readonly parent: string }
  | { readonly kind: 'told'; readonly text: string; readonly isProblem: boolean }
);

const ROOT = 'root';
const NONE: Children = { objects: [], next: null, state: 'loading', problem: '' };
/** Catalogs that a search looks through. */
const SEARCHED_CATALOGS_MAX = 20;

const keyOf = (object: BrowsedObject): string =>
  JSON.stringify([object.kind, object.catalog, object.schema, object.relation, object.name]);

export const hasChildren = ({ kind }: BrowsedObject): boolean => kind !== 'column' && kind !== 'stage';

/** Catalogs, schemas, tables and columns: each list is asked for when it is opened, a page at a time. */
export class CatalogTree {
  readonly state = new Store<TreeState>({ open: new Set(), children: new Map(), search: '', found: null, shown: null });
  readonly #parents = new Map<string, BrowsedObject>();
  #search = new AbortController();

  /** Asks for the catalogs, and for what was open before; opens the only one. */
  async load(): Promise<void> {
    await this.reload();
    const catalogs = this.state.value.children.get(ROOT)?.objects ?? [];
    const [only] = catalogs;
    if (only !== undefined && catalogs.length === 1 && !this.state.value.open.has(keyOf(only))) this.toggle(only, true);
  }

  /** Opens what a place lies in, as far as the lists that are there have it, and brings its line into sight. */
  async reveal({ catalog, schema, object }: NamedPlace): Promise<void> {
    let key = ROOT;
    for (const name of [catalog, schema, object]) {
      if (name === null) break;
      const parent = key === ROOT ? undefined : this.#parents.get(key);
      if (parent !== undefined) await this.#open(key, parent);
      const found = this.state.value.children.get(key)?.objects.find((one) => one.name === name);
      if (found === undefined) return;
      key = keyOf(found);
      this.#parents.set(key, found);
    }
    if (key !== ROOT) this.state.update((state) => ({ ...state, shown: key }));
  }

  async #open(key: string, object: BrowsedObject): Promise<void> {
    this.state.update((state) => ({ ...state, open: new Set([...state.open, key]) }));
    if (this.state.value.children.get(key)?.state !== 'there') await this.#fetch(key, placeOf(object));
  }

  /** Forgets everything but what is open, which is asked for again. */
  async reload(): Promise<void> {
    const { open } = this.state.value;
    await this.#fetch(ROOT, {});
    await Promise.all([...open].map((key) => this.#fetch(key, placeOf(this.#parents.get(key)))));
  }

  toggle(object: BrowsedObject, isOpen: boolean): void {
    const key = keyOf(object);
    this.#parents.set(key, object);
    this.state.update((state) => {
      const open = new Set(state.open);
      if (isOpen) open.add(key);
      else open.delete(key);
      return { ...state, open };
    });
    if (isOpen && this.state.value.children.get(key)?.state !== 'there') void this.#fetch(key, placeOf(object));
  }

  more(parent: string): void {
    const next = this.state.value.children.get(parent)?.next;
    if (next === undefined || next === null) return;
    void this.#fetch(parent, { ...placeOf(this.#parents.get(parent)), after: next });
  }

  /** Looks for a name on the server, in every catalog. */
  async search(search: string): Promise<void> {
    this.#search.abort();
    this.#search = new AbortController();
    const { signal } = this.#search;
    this.state.update((state) => ({ ...state, search, found: search === '' ? null : NONE }));
    if (search === '') return;
    const catalogs = (this.state.value.children.get(ROOT)?.objects ?? []).slice(0, SEARCHED_CATALOGS_MAX);
    try {
      const pages = await Promise.all(catalogs.map(({ name }) => ask({ catalog: name, search }, signal)));
      const objects = pages.flatMap((page) => page.objects);
      const isMore = pages.some(({ next }) => next !== null);
      const found: Children = {
        objects,
        next: null,
        state: 'there',
        problem: isMore ? 'There are more: write more of the name' : '',
      };
      this.state.update((state) => ({ ...state, found }));
    } catch (error) {
      if (signal.aborted) return;
      this.state.update((state) => ({ ...state, found: { ...NONE, state: 'failed', problem: textOf(error) } }));
    }
  }

  async #fetch(key: string, place: Readonly<Record<string, string>>): Promise<void> {
    const isFurther = place['after'] !== undefined;
    const set = (children: Children): void =>
      this.state.update((state) => ({ ...state, children: new Map(state.children).set(key, children) }));
    const before = this.state.value.children.get(key);
    // The list that was there stays in sight until the answer has come.
    set({ ...(before ?? NONE), state: 'loading' });
    try {
      const { objects, next } = await ask(place);
      set({ objects: [...(isFurther ? (before?.objects ?? []) : []), ...objects], next, state: 'there', problem: '' });
    } catch (error) {
      set({ ...(before ?? NONE), state: 'failed', problem: textOf(error) });
    }
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const ask = (place: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<BrowsedPage> =>
  callJson<BrowsedPage>(
    `/api/objects?${new URLSearchParams(place).toString()}`,
    signal === undefined ? {} : { signal },
  );

function placeOf(object: BrowsedObject | undefined): Readonly<Record<string, string>> {
  if (object === undefined) return {};
  const { kind, name, catalog, schema } = object;
  if (kind === 'catalog') return { catalog: name };
  if (kind === 'schema') return { catalog: catalog ?? '', schema: name };
  return { catalog: catalog ?? '', schema: schema ?? '', relation: name };
}

/** The lines that are open, from the top. */
export function treeLines({ open, children, found }: TreeState): readonly TreeLine[] {
  const lines: TreeLine[] = [];
  const add = (key: string, { objects, next, state, problem }: Children, level: number): void => {
    for (const object of objects) {
      const own = keyOf(object);
      const isOpen = hasChildren(object) ? open.has(own) : undefined;
      lines.push({ kind: 'object', key: own, level, object, isOpen });
      if (isOpen === true) add(own, children.get(own) ?? NONE, level + 1);
    }
    if (state === 'loading')
      lines.push({ kind: 'told', key: `${key} loading`, level, text: 'Loading …', isProblem: false });
    else if (problem !== '')
      lines.push({ kind: 'told', key: `${key} problem`, level, text: problem, isProblem: state === 'failed' });
    else if (next !== null) lines.push({ kind: 'more', key: `${key} more`, level, parent: key });
    else if (objects.length === 0)
      lines.push({ kind: 'told', key: `${key} empty`, level, text: 'Nothing here', isProblem: false });
  };
  add(ROOT, found ?? children.get(ROOT) ?? NONE, 1);
  return lines;
}
