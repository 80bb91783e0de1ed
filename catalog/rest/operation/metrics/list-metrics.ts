import { SkeinError } from '#shared/error.ts';
import { requireOpenFiles } from '../../../authorization/policies.ts';
import type { CatalogContext } from '../../../context.ts';
import { listReports } from '../../../store/postgres/metrics-report-store.ts';
import { requireTableHead } from '../../../store/postgres/table-store.ts';
import { tableTarget } from '../../request-names.ts';
import type { Answer, RestRequest } from '../../rest-operation.ts';
import { nextPageToken, pageOf } from '../../paging.ts';

/** Maximum number of reports of one page. A list without `pageToken` is one page as well, because reports are large. */
const REPORTS_PER_PAGE_MAX = 100;

/**
 * `GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics`, an extension: the reports that the catalog keeps of a table, newest
 * first: `{reports: [{principal, reported-at-ms, report}], next-page-token}`.
 */
export async function listMetrics(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const { after, limit = REPORTS_PER_PAGE_MAX } = pageOf(request);
  if (after !== undefined && !/^\d{1,18}$/.test(after)) throw new SkeinError('INVALID_REQUEST', 'Invalid pageToken');
  const { claims, catalog, ident } = tableTarget(request);
  const head = await requireTableHead(context.store.db, claims.tenant, catalog, ident);
  requireOpenFiles(head, request);
  const page = { limit: Math.min(limit, REPORTS_PER_PAGE_MAX) };
  const rows = await listReports(context.store.db, head.id, {
    ...page,
    before: after,
    oldest: new Date(context.clock.nowMs() - context.config['catalog.metrics_report_age_max']),
  });
  const reports = rows.map(
    ({ principal, reportedAt, report }) =>
      `{"principal":${JSON.stringify(principal)},"reported-at-ms":${reportedAt.getTime()},"report":${report}}`,
  );
  const next = nextPageToken(
    page,
    rows.map((row) => row.id),
  );
  return { status: 200, text: `{"reports":[${reports.join(',')}],"next-page-token":${JSON.stringify(next)}}` };
}
