import { isForeignKeyViolation } from '../../../store/postgres/errors.ts';
import { insertReport } from '../../../store/postgres/metrics-report-store.ts';
import { requireTable, tableNotFound } from '../../../store/postgres/table-store.ts';
import type { CatalogContext } from '../../../context.ts';
import { tableTarget } from '../../names.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../operation.ts';
import { printReport } from './metrics-report.ts';

/** `POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics`: the report of a scan or commit is kept with the table. */
export async function reportMetrics(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const { claims, catalog, ident } = tableTarget(request);
  const { db } = context.store;
  const { id } = await requireTable(db, claims.tenant, catalog, ident);
  const report = printReport(request.body);
  const nowMs = context.clock.nowMs();
  try {
    await insertReport(
      db,
      { tableId: id, principal: claims.sub, report, reportedAt: new Date(nowMs) },
      {
        countMax: context.config['catalog.metrics_reports_max'],
        oldest: new Date(nowMs - context.config['catalog.metrics_report_age_max']),
      },
    );
  } catch (error) {
    // Dropped meanwhile.
    if (isForeignKeyViolation(error)) tableNotFound(ident);
    throw error;
  }
  return NO_CONTENT;
}
