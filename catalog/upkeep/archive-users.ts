import { principalId } from '#shared/id.ts';
import type { CatalogContext } from '../context.ts';
import { archive } from '../principal-statement/archive.ts';
import { archivedName } from '../principal-statement/archived-name.ts';
import { moved, moveUser } from '../principal-statement/move-user.ts';
import { recordEvent } from '../store/postgres/audit-store.ts';
import { dueForArchive } from '../store/postgres/principal-change-store.ts';
import { findById } from '../store/postgres/principal-record-store.ts';
import type { Tx } from '../store/postgres/tables.ts';
import { lockPrincipalsOf } from '../store/postgres/tenant-store.ts';
import { transact } from '../store/postgres/transact.ts';

/** Users of one look. */
const AT_ONCE = 100;

type Parts = Pick<CatalogContext, 'store' | 'clock' | 'config'>;

/** Archives the users who were dropped longer ago than `principal.archive_after`. Several catalogs may do so at once. @returns how many */
export async function archiveUsers({ store, clock, config }: Parts): Promise<number> {
  const now = new Date(clock.nowMs());
  const archiveAfterMs = config['principal.archive_after'];
  const due = await dueForArchive(store.db, new Date(now.getTime() - archiveAfterMs), AT_ONCE);
  let archived = 0;
  for (const { id, tenantId, tenant } of due) {
    const one = { user: id, tenant: { id: tenantId, name: tenant }, now, archiveAfterMs };
    if (await transact(store.db, (tx) => archiveOne(tx, one))) archived += 1;
  }
  return archived;
}

type Due = {
  readonly user: string;
  readonly tenant: { readonly id: string; readonly name: string };
  readonly now: Date;
  readonly archiveAfterMs: number;
};

/** Looks again under the lock of the tenant's principals: meanwhile somebody may have had the user back. */
async function archiveOne(tx: Tx, { user: id, tenant, now, archiveAfterMs }: Due): Promise<boolean> {
  await lockPrincipalsOf(tx, { id: tenant.id });
  const user = await findById(tx, principalId(id));
  if (user === undefined) return false;
  const event = { kind: 'sweep', atMs: now.getTime(), archiveAfterMs } as const;
  if (moved(user, event).state.status !== 'ARCHIVED') return false;
  await moveUser({ tx, now }, user, event);
  await archive(tx, user.id, now);
  const target = { id: user.id, name: archivedName(user.id) };
  await recordEvent(tx, tenant, now, { type: 'archive_user', actor: null, target });
  return true;
}
