import { EXPIRY_TOLERANCE_MS } from '#shared/authorization/token-claims.ts';
import type { CatalogContext } from '../context.ts';
import { forgetAppSignIns } from '../store/postgres/app-sign-in-store.ts';
import { forgetBrowserSignIns } from '../store/postgres/browser-sign-in-store.ts';
import { forgetEnrolments } from '../store/postgres/factor-store.ts';
import { forgetOutsideSignIns } from '../store/postgres/identity-store.ts';
import { deleteExpiredFamilies } from '../store/postgres/refresh-token-store.ts';
import { forgetChanges } from '../store/postgres/list-change-store.ts';
import { forgetDroppedPrincipals } from '../store/postgres/principal-store.ts';
import { forgetAssertions } from '../store/postgres/shown-credentials.ts';
import { forgetVersions } from '../store/postgres/table-version-store.ts';
import { transact } from '../store/postgres/transact.ts';

/** A coordinator that asks less often than this for the changes of a list reads the list anew. */
const LIST_CHANGES_MS = 900_000;

/**
 * Deletes expired refresh tokens and sign-ins, the records of deleted principals that no living token can name, and those of documents that no
 * transaction may read any more, and old changes of what lists show.
 */
export async function forgetExpired(context: Pick<CatalogContext, 'config' | 'clock' | 'store'>): Promise<void> {
  const { config, clock, store } = context;
  const nowMs = clock.nowMs();
  const tokenAgeMaxMs = Math.max(config['catalog.token_ttl_max'], config['catalog.token_ttl']) + EXPIRY_TOLERANCE_MS;
  await transact(store.db, async (tx) => {
    await deleteExpiredFamilies(tx, new Date(nowMs));
    await forgetBrowserSignIns(tx, new Date(nowMs));
    await forgetAppSignIns(tx, new Date(nowMs - EXPIRY_TOLERANCE_MS));
    await forgetEnrolments(tx, new Date(nowMs));
    await forgetOutsideSignIns(tx, new Date(nowMs));
    await forgetAssertions(tx, new Date(nowMs));
    await forgetDroppedPrincipals(tx, new Date(nowMs - tokenAgeMaxMs));
    await forgetChanges(tx, new Date(nowMs - LIST_CHANGES_MS));
    await forgetVersions(tx, new Date(nowMs - config['catalog.table_version_lifetime']));
  });
}
