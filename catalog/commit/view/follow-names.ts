import { SkeinError } from '#shared/error.ts';
import { parseJson } from '#shared/json.ts';
import type { CatalogContext } from '../../context.ts';
import type { FunctionMetadata } from '../../metadata/function-metadata.ts';
import { displayIdent, joinPath } from '../../metadata/object-name.ts';
import { namesOld, withNewNames, type NameChange } from '../../metadata/view/name-change.ts';
import { currentVersion, type ViewMetadata } from '../../metadata/view/view-metadata.ts';
import { listNamingFunctions, lockNamingViews, type NamingView } from '../../store/postgres/naming-store.ts';
import type { Tx } from '../../store/postgres/tables.ts';
import { putRenamed } from './commit-view.ts';

/** Views whose documents one rename writes anew: they are locked until it is done. */
const VIEWS_MAX = 1_000;
/** Views whose documents are in memory at once; their files are written one after another. */
const PAGE = 50;
/** Views and functions that a refusal names. */
const TOLD_MAX = 5;

type Asked = {
  readonly tenant: string;
  readonly change: NameChange;
  /** The caller may list views and functions: a refusal names them. */
  readonly isTold: boolean;
};

/**
 * Makes the views of a tenant mean the same after a rename, in its transaction: a view that was made in what is renamed has its other names in the
 * new way from then on. @throws NAME_IN_USE when the query of a view or the body of a function spells the old name; LIMIT_REACHED
 */
export async function followNames(context: CatalogContext, tx: Tx, { tenant, change, isTold }: Asked): Promise<void> {
  const word = wordOf(change);
  const naming: string[] = [];
  let written = 0;
  for (let after = ''; ;) {
    const views = await lockNamingViews(tx, tenant, { word, after, limit: PAGE });
    const renamed = views.flatMap((view) => {
      const metadata = parseJson(view.metadata) as unknown as ViewMetadata;
      if (isNaming(view, metadata, change)) naming.push(nameOf(view, change));
      const next = withNewNames(metadata, view.catalog, change);
      return next === metadata ? [] : [{ view, next }];
    });
    written += renamed.length;
    if (written > VIEWS_MAX) {
      throw new SkeinError('LIMIT_REACHED', `more than ${VIEWS_MAX} views were made there: drop or move some first`);
    }
    // A rename that is refused writes no file.
    if (naming.length === 0) for (const { view, next } of renamed) await putRenamed(context, tx, view, next);
    const last = views.at(-1);
    if (last === undefined || views.length < PAGE) break;
    after = last.id;
  }
  for (const one of await listNamingFunctions(tx, tenant, word)) {
    const { definitions } = parseJson(one.metadata) as unknown as FunctionMetadata;
    const texts = definitions.flatMap(({ versions }) => versions.flatMap(({ representations }) => representations));
    if (texts.some(({ sql }) => namesOld(sql, one.catalog, change))) naming.push(nameOf(one, change));
  }
  if (naming.length > 0) throw inUse(naming, isTold);
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
