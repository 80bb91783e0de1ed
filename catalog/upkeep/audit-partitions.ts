import type { CatalogContext } from '../context.ts';
import { dropMonthsBefore, makeMonth, monthOf } from '../store/postgres/audit-partition-store.ts';

/** Months that have a partition before they begin (service specification, Limits). */
const MONTHS_AHEAD = 24;

type Parts = Pick<CatalogContext, 'store' | 'clock' | 'config'>;

/** Makes a partition of the audit log for each month before it begins. */
export async function makeAuditPartitions({ store, clock }: Omit<Parts, 'config'>): Promise<void> {
  const now = new Date(clock.nowMs());
  for (let later = 0; later <= MONTHS_AHEAD; later += 1) await makeMonth(store.db, monthOf(now, later));
}

/** Drops the partitions whose rows are all older than `audit.retention`; never the catch-all `user_audit_log_other`. */
export const dropAuditPartitions = ({ store, clock, config }: Parts): Promise<void> =>
  dropMonthsBefore(store.db, new Date(clock.nowMs() - config['audit.retention']));
