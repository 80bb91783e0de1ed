import { SkeinError } from '#shared/error.ts';
import type { TableIdent } from '../metadata/object-name.ts';
import { requireFilePlace, type FilePlace } from '../store/postgres/file-place-store.ts';
import type { Asked } from './delegation-log.ts';
import type { DelegationParts } from './table-files.ts';

/**
 * Finds where the files of a table lie that somebody wants keys or signatures for. The log tells of names that nobody has, or another tenant:
 * whoever tries them out is seen. @throws CATALOG_NOT_FOUND (another tenant's too), TABLE_NOT_FOUND
 */
export async function findPlace(
  { store, delegationLog }: Pick<DelegationParts, 'store' | 'delegationLog'>,
  asked: Omit<Asked, 'table'>,
  { catalog, ident }: { readonly catalog: string; readonly ident: TableIdent },
): Promise<FilePlace> {
  try {
    return await requireFilePlace(store.db, asked.principal.tenant, catalog, ident);
  } catch (thrown) {
    const { code, message } = SkeinError.of(thrown);
    if (code === 'TABLE_NOT_FOUND' || code === 'CATALOG_NOT_FOUND') {
      delegationLog.refused({ ...asked, table: { catalog, ident } }, message);
    }
    throw thrown;
  }
}
