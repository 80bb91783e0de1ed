import { printJson } from '#shared/json.ts';
import { SkeinError } from '#shared/error.ts';
import { isUuid } from '#shared/id.ts';
import type { PrincipalAnswer, RequestOf } from '#shared/principal/principal-request.ts';
import { requirePrincipalAction } from '../authorization/decide-principal.ts';
import { readAuditLog, type AuditRow } from '../store/postgres/audit-store.ts';
import { listAnswer, reading, timeText, type Call, type ListColumns } from './change.ts';

/** The columns of the specification's audit log row, in its order. */
const COLUMNS: ListColumns<AuditRow> = {
  tenant_id: ['VARCHAR', (row) => row.tenant_id],
  actor_id: ['VARCHAR', (row) => row.actor_id],
  target_id: ['VARCHAR', (row) => row.target_id],
  target_name: ['VARCHAR', (row) => row.target_name],
  event_type: ['VARCHAR', (row) => row.event_type],
  details: ['VARCHAR', (row) => printJson(row.details)],
  created_at: ['TIMESTAMP WITH TIME ZONE', (row) => timeText(row.created_at)],
};

/** `SHOW AUDIT LOG`: the newest first. @throws FORBIDDEN without tenant_admin */
export async function showAuditLog(call: Call, input: RequestOf<'show_audit_log'>): Promise<PrincipalAnswer> {
  const { db, tenant, actor } = await reading(call);
  requirePrincipalAction(actor, 'audit.show');
  const rows = await readAuditLog(db, tenant.id, { like: input.like, after: placeOf(input.after), limit: input.limit });
  const last = rows.length < input.limit ? undefined : rows.at(-1);
  return listAnswer(COLUMNS, rows, last === undefined ? null : `${last.created_at.toISOString()} ${last.id}`);
}

function placeOf(after: string | null): { readonly at: Date; readonly id: string } | null {
  if (after === null) return null;
  const [time = '', id = ''] = after.split(' ');
  const at = new Date(time);
  if (Number.isNaN(at.getTime()) || !isUuid(id))
    throw new SkeinError('INVALID_REQUEST', 'not a place in the audit log');
  return { at, id };
}
