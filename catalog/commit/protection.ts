import { SkeinError } from '#shared/error.ts';
import { parseJson } from '#shared/json.ts';
import { displayIdent, type TableIdent } from '../store/postgres/table-store.ts';
import { displayPath, type NamespacePath } from '../store/postgres/namespace-store.ts';
import type { Properties, TableMetadata } from './table-metadata.ts';

/** A table or namespace with this property set to `true` cannot be dropped, unregistered or overwritten until the property goes. */
const PROTECTED_PROPERTY = 'skein.protected';

const isProtected = (properties: Properties): boolean =>
  Object.hasOwn(properties, PROTECTED_PROPERTY) && properties[PROTECTED_PROPERTY]?.toLowerCase() === 'true';

/** @param metadata JSON text @throws PROTECTED */
export function requireUnprotected(metadata: string, ident: TableIdent): void {
  const { properties } = parseJson(metadata) as unknown as TableMetadata;
  if (isProtected(properties)) throw protectedError('Table', displayIdent(ident));
}

/** @throws PROTECTED */
export function requireUnprotectedNamespace(properties: Properties, path: NamespacePath): void {
  if (isProtected(properties)) throw protectedError('Namespace', displayPath(path));
}

const protectedError = (what: string, name: string): SkeinError =>
  new SkeinError('PROTECTED', `${what} ${name} is protected: remove its property ${PROTECTED_PROPERTY} first`);
