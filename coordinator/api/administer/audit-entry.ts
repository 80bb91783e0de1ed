import type { PrincipalAnswer } from '#shared/principal/principal-request.ts';
import { Type, type Static } from 'typebox';
import { orNull, record, text, TIME } from '../../profile/schema-parts.ts';

/** A row of the audit log as the API answers it. */
export const AuditEntry = record({
  id: text('Id of the row'),
  created_at: TIME,
  event_type: text('Event'),
  actor_id: orNull(Type.String(), 'Who did it; null: the catalog by itself, the operator, or somebody unknown'),
  actor_name: orNull(Type.String(), 'The name that the actor has now'),
  target_id: orNull(Type.String(), 'To whom or what'),
  target_name: orNull(Type.String(), 'Its name at that time'),
  details: Type.Unknown({ description: 'Details of the event, without secrets' }),
});

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
export const auditEntries = ({ columns, rows }: PrincipalAnswer): readonly Static<typeof AuditEntry>[] =>
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
