import { isForeignKeyViolation } from '../../../store/postgres/errors.ts';
import { insertReport } from '../../../store/postgres/metrics-report-store.ts';
import { requireTableHead, tableNotFound } from '../../../store/postgres/table-store.ts';
import { requireOpenFiles } from '../../../authorization/policies.ts';
import type { CatalogContext } from '../../../context.ts';
import { tableTarget } from '../../request-names.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../rest-operation.ts';
import { printReport } from './metrics-report.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/** `POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics`: stores the report of a scan or commit with the table. */
export async function reportMetrics(context: CatalogContext, request: RestRequest, unit: UnitOfWork): Promise<Answer> {
  const { claims, catalog, ident } = tableTarget(request);
  const head = await requireTableHead(context.store.db, claims.tenant, catalog, ident);
  requireOpenFiles(head, request);
  const report = printReport(request.body);
  const nowMs = context.clock.nowMs();
  try {
    const kept = { tableId: head.id, principal: request.claims.sub, report, reportedAt: new Date(nowMs) };
    const limits = {
      countMax: context.config['catalog.metrics_reports_max'],
      oldest: new Date(nowMs - context.config['catalog.metrics_report_age_max']),
    };
    await unit.transact((tx) => insertReport(tx, kept, limits));
  } catch (error) {
    // The table was dropped meanwhile.
    if (isForeignKeyViolation(error)) tableNotFound(ident);
    throw error;
  }
  return NO_CONTENT;
}
