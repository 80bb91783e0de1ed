import { setImmediate as nextTurn } from 'node:timers/promises';
import { SkeinError } from '#shared/error.ts';
import { parseJson } from '#shared/json.ts';
import type { FunctionMetadata } from '../../metadata/function-metadata.ts';
import { displayIdent, joinPath } from '../../metadata/object-name.ts';
import { namesOld, withNewNames, type NameChange } from '../../metadata/view/name-change.ts';
import { currentVersion, type ViewMetadata } from '../../metadata/view/view-metadata.ts';
import {
  listNamingFunctions,
  listNamingViews,
  lockNamingViews,
  type NamingPage,
  type NamingView,
} from '../../store/postgres/naming-store.ts';
import type { Database, Tx } from '../../store/postgres/tables.ts';

/** Views whose documents one rename writes anew. */
const VIEWS_MAX = 1_000;
/** Views whose documents are in memory, and whose files are written, at once. */
const PAGE = 20;
/** Views and functions that a refusal names. */
const TOLD_MAX = 5;

export type Rename = {
  readonly tenant: string;
  readonly change: NameChange;
  /** The caller may list views and functions: a refusal names them. */
  readonly isTold: boolean;
};

/** A view, and its document under the new names. */
export type RenamedView = { readonly view: NamingView; readonly next: ViewMetadata };

/**
 * Looks at the views of a tenant, in the transaction of a rename, and locks them: those that were made in what is renamed get other names.
 * @param put is called for each of them
 * @throws NAME_IN_USE when the query of a view or the body of a function spells the old name; LIMIT_REACHED
 */
export async function followNames(
  tx: Tx,
  { tenant, change, isTold }: Rename,
  put: (renamed: RenamedView) => Promise<void>,
): Promise<void> {
  const naming: string[] = [];
  let following = 0;
  for await (const views of inPages(change, (page) => lockNamingViews(tx, tenant, page))) {
    for (const { view, metadata, next } of views) {
      if (isNaming(view, metadata, change)) naming.push(nameOf(view, change));
      if (next === metadata) continue;
      following += 1;
      if (following > VIEWS_MAX) {
        throw new SkeinError('LIMIT_REACHED', `more than ${VIEWS_MAX} views were made there: drop or move some first`);
      }
      if (naming.length === 0) await put({ view, next });
    }
  }
  const word = wordOf(change);
  for (const one of await listNamingFunctions(tx, tenant, word)) {
    const { definitions } = parseJson(one.metadata) as unknown as FunctionMetadata;
    const texts = definitions.flatMap(({ versions }) => versions.flatMap(({ representations }) => representations));
    if (texts.some(({ sql }) => namesOld(sql, one.catalog, change))) naming.push(nameOf(one, change));
  }
  if (naming.length > 0) throw inUse(naming, isTold);
}

/** The views that get other names by a rename, as they are now, by pages. */
export async function* renamedViews(db: Database, { tenant, change }: Rename): AsyncGenerator<readonly RenamedView[]> {
  for await (const views of inPages(change, (page) => listNamingViews(db, tenant, page))) {
    yield views.filter(({ metadata, next }) => next !== metadata);
  }
}

type ReadView = RenamedView & { readonly metadata: ViewMetadata };

async function* inPages(
  change: NameChange,
  read: (page: NamingPage) => Promise<readonly NamingView[]>,
): AsyncGenerator<readonly ReadView[]> {
  const word = wordOf(change);
  for (let after = ''; ;) {
    const views = await read({ word, after, limit: PAGE });
    const page: ReadView[] = [];
    for (const view of views) {
      const metadata = parseJson(view.metadata) as unknown as ViewMetadata;
      page.push({ view, metadata, next: withNewNames(metadata, view.catalog, change) });
      // A document may have megabytes.
      await nextTurn();
    }
    yield page;
    const last = views.at(-1);
    if (last === undefined || views.length < PAGE) return;
    after = last.id;
  }
}

function isNaming(view: NamingView, metadata: ViewMetadata, change: NameChange): boolean {
  const version = currentVersion(metadata);
  const catalog = version['default-catalog'] ?? view.catalog;
  return version.representations.some(({ sql }) => namesOld(sql, catalog, change));
}

/**
 * A text that stands in every document that has the old name, however it is quoted; '' when none surely does, because letters of the name are
 * written in another way in JSON.
 */
function wordOf(change: NameChange): string {
  const levels = change.kind === 'catalog' ? [change.from] : change.from;
  const plain = levels.filter((level) => /^[\w. -]*$/.test(level));
  return plain.toSorted((a, b) => b.length - a.length)[0] ?? '';
}

/** The name before the change: the namespaces have their new ones by now. */
function nameOf({ catalog, ident }: Pick<NamingView, 'catalog' | 'ident'>, change: NameChange): string {
  const { namespace, name } = ident;
  const isMoved =
    change.kind === 'namespace' &&
    catalog === change.catalog &&
    joinPath(namespace.slice(0, change.to.length)) === joinPath(change.to);
  const before = isMoved ? [...change.from, ...namespace.slice(change.to.length)] : namespace;
  return `${catalog}.${displayIdent({ namespace: before, name })}`;
}

function inUse(naming: readonly string[], isTold: boolean): SkeinError {
  const more = naming.length > TOLD_MAX ? ` and ${naming.length - TOLD_MAX} more` : '';
  const names = isTold ? `: ${naming.toSorted().slice(0, TOLD_MAX).join(', ')}${more}` : '';
  return new SkeinError('NAME_IN_USE', `views or functions name it in their text: replace or drop them first${names}`);
}
