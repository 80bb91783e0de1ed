import { PROTECTED_PROPERTY } from '#shared/iceberg/protected-property.ts';
import { SkeinError } from '#shared/error.ts';
import type { CatalogContext } from '../context.ts';
import { displayPath, type NamespacePath, displayIdent, type TableIdent } from '../metadata/object-name.ts';
import { runDocumentTask } from '../metadata/document-task.ts';
import { IS_PROTECTED, isProtected } from '../metadata/protected-property.ts';
import type { Properties } from '../metadata/table-document.ts';

/** @throws PROTECTED */
export async function requireUnprotected(
  context: CatalogContext,
  table: { readonly metadata: string; readonly ident: TableIdent; readonly tenant: string },
): Promise<void> {
  const { metadata, ident, tenant } = table;
  // A cheap test first: our own metadata texts escape no letter of a name.
  if (!metadata.includes(PROTECTED_PROPERTY)) return;
  const about = { bytes: metadata.length, owner: tenant, what: `the metadata of ${displayIdent(ident)}` };
  const isKept = await runDocumentTask(context.readers, IS_PROTECTED, metadata, about);
  if (isKept) throw protectedError('Table', displayIdent(ident));
}

/** @throws PROTECTED */
export function requireUnprotectedNamespace(properties: Properties, path: NamespacePath): void {
  if (isProtected(properties)) throw protectedError('Namespace', displayPath(path));
}

const protectedError = (what: string, name: string): SkeinError =>
  new SkeinError('PROTECTED', `${what} ${name} is protected: remove its property ${PROTECTED_PROPERTY} first`);
