import type { AuditPage } from '#proto/generated/skein/catalog/v1/AuditPage.ts';
import type { ExportAuditLogRequest } from '#proto/generated/skein/catalog/v1/ExportAuditLogRequest.ts';
import { SkeinError } from '#shared/error.ts';
import { isUuid } from '#shared/id.ts';
import { printJson } from '#shared/json.ts';
import type { CatalogContext } from '../context.ts';
import { exportAuditLog, type AuditRow } from '../store/postgres/audit-store.ts';
import { requireTenant } from '../store/postgres/catalog-store.ts';

const PAGE_ROWS = 1_000;

/** A page of a tenant's audit log for the operator. @throws TENANT_NOT_FOUND, INVALID_REQUEST */
export async function exportAudit({ store }: CatalogContext, request: ExportAuditLogRequest): Promise<AuditPage> {
  const { db } = store;
  const rows = await exportAuditLog(db, await requireTenant(db, request.tenant), {
    since: new Date(Number(request.since_ms)),
    after: placeOf(request.after),
    limit: PAGE_ROWS,
  });
  const last = rows.length < PAGE_ROWS ? undefined : rows.at(-1);
  return {
    rows: rows.map((row) => lineOf(request.tenant, row)),
    next: last === undefined ? '' : `${last.created_at.toISOString()} ${last.id}`,
  };
}

const lineOf = (tenant: string, row: AuditRow): string =>
  printJson({
    id: row.id,
    created_at: row.created_at.toISOString(),
    event_type: row.event_type,
    tenant,
    tenant_id: row.tenant_id,
    actor_id: row.actor_id,
    target_id: row.target_id,
    target_name: row.target_name,
    details: row.details,
  });

function placeOf(after: string): { readonly at: Date; readonly id: string } | null {
  if (after === '') return null;
  const [time = '', id = ''] = after.split(' ');
  const at = new Date(time);
  if (Number.isNaN(at.getTime()) || !isUuid(id)) throw new SkeinError('INVALID_REQUEST', 'not a place in the log');
  return { at, id };
}
