import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { Tokenizer, type Token } from '#shared/sql/tokenizer.ts';
import type { NamespacePath } from '../object-name.ts';
import type { ViewMetadata, ViewVersion } from './view-metadata.ts';

/**
 * A catalog, or a namespace of a catalog, that gets another name, and what that means for views. Their documents have it in two ways: as the
 * place that names without one stand for, and the table of their rows, which follow; and in the text of a query, which is its author's. Pure.
 */
export type NameChange =
  | { readonly kind: 'catalog'; readonly from: string; readonly to: string }
  | {
      readonly kind: 'namespace';
      readonly catalog: string;
      readonly from: NamespacePath;
      readonly to: NamespacePath;
    };

/**
 * The document under the new names, in every version: their ids stay, because the view means what it meant. The same object when it has none of them.
 * @param catalog the name, before the change, of the catalog that has the view
 */
export function withNewNames(metadata: ViewMetadata, catalog: string, change: NameChange): ViewMetadata {
  const versions = metadata.versions.map((version) => newVersion(version, catalog, change));
  return versions.every((version, i) => version === metadata.versions[i]) ? metadata : { ...metadata, versions };
}

function newVersion(version: ViewVersion, catalog: string, change: NameChange): ViewVersion {
  const { 'default-catalog': own, 'default-namespace': namespace, 'storage-table': storage } = version;
  if (change.kind === 'catalog') {
    return own === undefined || !isSame(own, change.from) ? version : { ...version, 'default-catalog': change.to };
  }
  const isDefault = isSame(own ?? catalog, change.catalog) && isWithin(namespace, change.from);
  // The table of its rows stands in the view's own catalog.
  const isStorage =
    storage !== undefined && isSame(catalog, change.catalog) && isWithin(storage.namespace, change.from);
  if (!isDefault && !isStorage) return version;
  return {
    ...version,
    'default-namespace': isDefault ? moved(namespace, change) : namespace,
    ...(isStorage ? { 'storage-table': { ...storage, namespace: moved(storage.namespace, change) } } : {}),
  };
}

const isSame = (a: string, b: string): boolean => foldIdentifier(a) === foldIdentifier(b);

/** The levels joined by dots, as people write them; our own documents may have all levels in one. */
const dotted = (path: NamespacePath): string => foldIdentifier(path.join('.'));

const isWithin = (path: NamespacePath, folder: NamespacePath): boolean =>
  dotted(path) === dotted(folder) || dotted(path).startsWith(`${dotted(folder)}.`);

const moved = (path: NamespacePath, { from, to }: Extract<NameChange, { kind: 'namespace' }>): NamespacePath =>
  dotted(path.slice(0, from.length)) === dotted(from)
    ? [...to, ...path.slice(from.length)]
    : `${to.join('.')}${path.join('.').slice(from.join('.').length)}`.split('.');

/**
 * Whether the text of a query names what is renamed. It looks at names with dots, in the quotes of any dialect, so that an alias of the same name
 * counts, too: then the author is asked, and nothing breaks. @param catalog the one that names without a catalog stand for
 */
export function namesOld(sql: string, catalog: string, change: NameChange): boolean {
  // A catalog stands before a schema and a table.
  if (change.kind === 'catalog') return chains(sql).some((chain) => partsOf(chain, change.from) >= 2);
  const folder = change.from.join('.');
  return chains(sql).some(
    (chain) =>
      (isSame(catalog, change.catalog) && partsOf(chain, folder) >= 1) ||
      partsOf(chain, `${change.catalog}.${folder}`) >= 1,
  );
}

/** How many parts stand behind `head`, with which the chain begins; 0 when it does not. */
const partsOf = (chain: string, head: string): number => {
  const start = `${foldIdentifier(head)}.`;
  return chain.startsWith(start) ? chain.slice(start.length).split('.').length : 0;
};

/** All names of several parts in a text, folded and joined by dots. A text that cannot be read to its end has those before that. */
function chains(sql: string): readonly string[] {
  const found: string[] = [];
  let parts: string[] = [];
  let wantsName = true;
  for (const piece of pieces(sql)) {
    if (piece.name !== null && wantsName) {
      parts.push(piece.name);
      wantsName = false;
    } else if (piece.isDot && !wantsName) wantsName = true;
    else {
      if (parts.length > 1) found.push(foldIdentifier(parts.join('.')));
      parts = piece.name === null ? [] : [piece.name];
      wantsName = piece.name === null;
    }
  }
  return found;
}

type Piece = { readonly name: string | null; readonly isDot: boolean };
const OTHER: Piece = { name: null, isDot: false };

/** Names and dots of a text; `END` behind the last. Backticks are quotes of other dialects. */
function* pieces(sql: string): Generator<Piece> {
  let tokens = new Tokenizer(sql);
  for (;;) {
    const token = nextOf(tokens);
    if (token === null || token.kind === 'end') break;
    const { start, end } = token;
    const text = sql.slice(start, end);
    const close = text === '`' ? sql.indexOf('`', end) : -1;
    if (close >= 0) {
      yield { name: sql.slice(end, close), isDot: false };
      tokens = new Tokenizer(sql, close + 1);
    } else if (token.kind === 'quoted') yield { name: text.slice(1, -1).replaceAll('""', '"'), isDot: false };
    else if (token.kind === 'word') yield { name: text, isDot: false };
    else yield text === '.' ? { name: null, isDot: true } : OTHER;
  }
  yield OTHER;
}

/** Null where the text of another dialect is none of ours. */
function nextOf(tokens: Tokenizer): Token | null {
  try {
    return tokens.next();
  } catch {
    return null;
  }
}
