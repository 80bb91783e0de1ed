import type { PrincipalAnswer } from '#shared/principal/principal-request.ts';
import type { AuditEntryBody } from './administer-operations.ts';

/** The columns of a row that is found, in the catalog's order. */
export const AUDIT_COLUMNS = [
  'id',
  'created_at',
  'event_type',
  'actor_id',
  'actor_name',
  'target_id',
  'target_name',
  'details',
] as const;

/** The rows of an answer as members by their names; details, which are JSON, as what they say. */
export const auditEntries = ({ columns, rows }: PrincipalAnswer): readonly AuditEntryBody[] =>
  rows.map((row) => {
    const value = (name: (typeof AUDIT_COLUMNS)[number]): string | null => row[columns.indexOf(name)] ?? null;
    return {
      id: value('id') ?? '',
      created_at: new Date(value('created_at') ?? '').toISOString(),
      event_type: value('event_type') ?? '',
      actor_id: value('actor_id'),
      actor_name: value('actor_name'),
      target_id: value('target_id'),
      target_name: value('target_name'),
      // Details that the catalog has written: small, and no number that is too long for one.
      details: JSON.parse(value('details') ?? 'null') as unknown,
    };
  });
