import type { Principal } from '#shared/authorization/principal.ts';
import { deniedRoot } from '#shared/storage/denied-roots.ts';
import { isExempt } from '../authorization/policies.ts';
import { listClaims, listClosed } from '../store/postgres/folder-claims.ts';
import type { Database } from '../store/postgres/tables.ts';

/**
 * Closed folders that a list of roots names. With more of them a table's files lie in its own folders alone, which no other table has: the
 * list travels with every statement.
 */
export const CLOSED_MAX = 500;

type Reader = Partial<Pick<Principal, 'privileges'>>;
type Roots = {
  readonly roots: readonly string[];
  /** As `listClosed` gives them. */ readonly closed: readonly string[];
};

/**
 * The roots below which a reader reads files of a table: its manifests may name files of a table with policies, whom nobody reads so, but the
 * exempt.
 */
export async function readableRoots(
  db: Database,
  tableId: string,
  { roots, closed }: Roots,
  reader: Reader,
): Promise<readonly string[]> {
  if (closed.length === 0 || isExempt(reader)) return roots;
  if (closed.length > CLOSED_MAX) return listClaims(db, tableId);
  return [...roots, ...closed.map(deniedRoot)];
}

/** The same for whoever has not read the closed folders yet. */
export const readableRootsOf = async (
  db: Database,
  { id, roots }: { readonly id: string; readonly roots: readonly string[] },
  reader: Reader,
): Promise<readonly string[]> => readableRoots(db, id, { roots, closed: await listClosed(db, id, CLOSED_MAX) }, reader);
