import { sql } from 'kysely';
import type { Database, Tx } from './tables.ts';

/** Reports of scans and commits that clients send, per table; they are deleted with the table. */

export type ReportRow = {
  readonly id: string;
  readonly principal: string;
  /** JSON text. */
  readonly report: string;
  readonly reportedAt: Date;
};

/** Inserts a report and deletes reports beyond the table's limit or older than `oldest`. */
export async function insertReport(
  tx: Tx,
  report: Omit<ReportRow, 'id'> & { readonly tableId: string },
  limits: { readonly countMax: number; readonly oldest: Date },
): Promise<void> {
  const { id } = await tx
    .insertInto('metrics_report')
    .values({
      table_id: report.tableId,
      principal: report.principal,
      report: report.report,
      reported_at: report.reportedAt,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await tx
    .deleteFrom('metrics_report')
    .where('table_id', '=', report.tableId)
    .where('id', '<', id)
    .where((where) =>
      where.or([
        where('reported_at', '<', limits.oldest),
        where('id', '<=', (select) =>
          select
            .selectFrom('metrics_report')
            .select('id')
            .where('table_id', '=', report.tableId)
            .orderBy('id', 'desc')
            .offset(limits.countMax)
            .limit(1),
        ),
      ]),
    )
    .execute();
}

/** Lists reports, newest first, starting before the id `before`. */
export async function listReports(
  db: Database,
  tableId: string,
  page: { readonly before: string | undefined; readonly limit: number; readonly oldest: Date },
): Promise<ReportRow[]> {
  let query = db
    .selectFrom('metrics_report')
    .select(['id', 'principal', 'report', 'reported_at as reportedAt'])
    .where('table_id', '=', tableId)
    .where('reported_at', '>=', page.oldest)
    .orderBy('id', 'desc')
    .limit(page.limit);
  if (page.before !== undefined) query = query.where('id', '<', sql<string>`${page.before}::bigint`);
  return query.execute();
}
