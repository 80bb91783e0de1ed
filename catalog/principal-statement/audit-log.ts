import { printJson } from '#shared/json.ts';
import { SkeinError } from '#shared/error.ts';
import { isUuid } from '#shared/id.ts';
import type { PrincipalAnswer, RequestOf } from '#shared/principal/principal-request.ts';
import { requirePrincipalAction } from '../authorization/decide-principal.ts';
import { readAuditLog, searchAuditRows, type AuditRow } from '../store/postgres/audit-store.ts';
import { findByName } from '../store/postgres/principal-record-store.ts';
import type { Database } from '../store/postgres/tables.ts';
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

/** As `SHOW AUDIT LOG`, with the ids of rows and the names of actors. */
const FOUND: ListColumns<AuditRow & { readonly actor_name: string | null }> = {
  id: ['VARCHAR', (row) => row.id],
  created_at: ['TIMESTAMP WITH TIME ZONE', (row) => timeText(row.created_at)],
  event_type: ['VARCHAR', (row) => row.event_type],
  actor_id: ['VARCHAR', (row) => row.actor_id],
  actor_name: ['VARCHAR', (row) => row.actor_name],
  target_id: ['VARCHAR', (row) => row.target_id],
  target_name: ['VARCHAR', (row) => row.target_name],
  details: ['VARCHAR', (row) => printJson(row.details)],
};

/** The rows of the audit log that a person looks for, the newest first. @throws FORBIDDEN without tenant_admin, INVALID_REQUEST */
export async function searchAuditLog(call: Call, input: RequestOf<'search_audit_log'>): Promise<PrincipalAnswer> {
  const { db, tenant, actor } = await reading(call);
  requirePrincipalAction(actor, 'audit.show');
  const { event, target, after, limit } = input;
  const actorId = await actorOf(db, tenant.id, input.actor);
  const isId = target !== null && isUuid(target);
  const filter = {
    event,
    actorId,
    targetName: isId ? null : target,
    targetId: isId ? target : null,
    from: timeOf(input.from),
    to: timeOf(input.to),
  };
  const rows =
    actorId === UNKNOWN ? [] : await searchAuditRows(db, tenant.id, filter, { after: placeOf(after), limit });
  const last = rows.length < limit ? undefined : rows.at(-1);
  return listAnswer(FOUND, rows, last === undefined ? null : `${last.created_at.toISOString()} ${last.id}`);
}

/** No principal has this id. */
const UNKNOWN = '00000000-0000-0000-0000-000000000000';

async function actorOf(db: Database, tenantId: string, named: string | null): Promise<string | null> {
  if (named === null || isUuid(named)) return named;
  return (await findByName(db, tenantId, named))?.id ?? UNKNOWN;
}

function timeOf(text: string | null): Date | null {
  if (text === null) return null;
  const time = new Date(text);
  if (Number.isNaN(time.getTime()))
    throw new SkeinError('INVALID_REQUEST', 'a time is written as 2026-01-31T12:00:00Z');
  return time;
}

function placeOf(after: string | null): { readonly at: Date; readonly id: string } | null {
  if (after === null) return null;
  const [time = '', id = ''] = after.split(' ');
  const at = new Date(time);
  if (Number.isNaN(at.getTime()) || !isUuid(id))
    throw new SkeinError('INVALID_REQUEST', 'not a place in the audit log');
  return { at, id };
}
