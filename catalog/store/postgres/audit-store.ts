import { sql } from 'kysely';
import type { JsonObject } from '#shared/json.ts';
import { printJson } from '#shared/json.ts';
import { maskJson, maskSecrets } from '#shared/mask-secrets.ts';
import { newUuidV7 } from '#shared/uuid-v7.ts';
import type { Database, Tx } from './tables.ts';
import { wholePattern } from './whole-pattern.ts';

/** The audit log, and the deliveries to webhooks that its rows cause. */

/** Everything that the audit log records; webhooks subscribe to these names and to their prefixes. `docs/security.md` lists them. */
export const AUDIT_EVENTS = [
  'create_user',
  'alter_user',
  'rename_user',
  'set_password',
  'suspend_user',
  'unsuspend_user',
  'lock_user',
  'unlock_user',
  'set_legal_hold',
  'clear_legal_hold',
  'drop_user',
  'undrop_user',
  'expunge_user',
  'archive_user',
  'redeem_invitation',
  'create_service_account',
  'drop_service_account',
  'add_keypair',
  'drop_keypair',
  'create_pat',
  'drop_pat',
  'create_role',
  'alter_role',
  'drop_role',
  'grant_role',
  'revoke_role',
  'grant_privilege',
  'revoke_privilege',
  'end_credentials',
  'create_webhook',
  'drop_webhook',
  'retry_webhook',
  'create_identity_provider',
  'alter_identity_provider',
  'drop_identity_provider',
  'grant_group_role',
  'revoke_group_role',
  'set_trust',
  'drop_trust',
  'link_identity',
  'unlink_identity',
  'change_groups',
  'change_group_members',
  'sign_in',
  'sign_in_refused',
  'end_sign_in',
  'add_factor',
  'drop_factor',
  'new_recovery_codes',
  'use_recovery_code',
  'refuse_passkey',
  'reset_mfa',
  'mint_token',
  'create_tenant',
  'alter_tenant',
  'drop_tenant',
  'create_client',
  'rotate_client',
  'drop_client',
  'create_catalog',
  'alter_catalog',
  'drop_catalog',
  'create_policy',
  'alter_policy',
  'drop_policy',
  'bind_policy',
  'unbind_policy',
] as const;
type AuditEventType = (typeof AUDIT_EVENTS)[number];

/** One who acts or is acted on, and his name at that moment. */
export type Party = { readonly id: string | null; readonly name: string };

export type AuditEvent = {
  readonly type: AuditEventType;
  /** Null = nobody: the catalog by itself, or somebody who is not known. */
  readonly actor: Party | null;
  readonly target: Party | null;
  /** Never a secret. */
  readonly details?: JsonObject;
};

/**
 * Writes the row of an event, and a delivery to each webhook that asks for it, in the transaction of the change.
 */
export async function recordEvent(
  tx: Tx,
  tenant: { readonly id: string; readonly name: string },
  now: Date,
  { type, actor, target: named, details = {} }: AuditEvent,
): Promise<void> {
  const id = newUuidV7(now.getTime());
  // Somebody who fails to sign in may have typed anything for a name.
  const target = named === null ? null : { id: named.id, name: maskSecrets(named.name) };
  const told = maskJson(printJson(details));
  await tx
    .insertInto('user_audit_log')
    .values({
      id,
      tenant_id: tenant.id,
      actor_id: actor?.id ?? null,
      target_id: target?.id ?? null,
      target_name: target?.name ?? null,
      event_type: type,
      details: told,
      created_at: now,
    })
    .execute();
  const event = {
    id,
    type,
    tenant: tenant.name,
    actor: actor === null ? null : { id: actor.id, name: actor.name },
    target: target === null ? null : { id: target.id, name: target.name },
    occurred_at: now.toISOString(),
  };
  const body = `${printJson(event).slice(0, -1)},"details":${told}}`;
  await tx
    .insertInto('webhook_delivery')
    .columns(['webhook_id', 'event_id', 'event_type', 'body', 'created_at', 'due_at'])
    .expression((eb) =>
      eb
        .selectFrom('webhook as w')
        .select([
          'w.id',
          eb.cast<string>(eb.val(id), 'uuid').as('event_id'),
          eb.cast<string>(eb.val(type), 'text').as('event_type'),
          eb.cast<string>(eb.val(body), 'text').as('body'),
          eb.cast<Date>(eb.val(now), 'timestamptz').as('created_at'),
          eb.cast<Date>(eb.val(now), 'timestamptz').as('due_at'),
        ])
        .where('w.tenant_id', '=', tenant.id)
        .where(sql<boolean>`exists (select from unnest(w.events) as u (prefix) where starts_with(${type}, u.prefix))`),
    )
    .execute();
}

/** Writes the row of what the operator of the cluster does to a tenant. */
export const recordOperator = (
  tx: Tx,
  tenant: { readonly id: string; readonly name: string },
  now: Date,
  event: Omit<AuditEvent, 'actor'>,
): Promise<void> => recordEvent(tx, tenant, now, { ...event, actor: null });

/** A page of the rows of a tenant, the oldest first. `after` is the time and id of the last row before it. */
export const exportAuditLog = (
  db: Database,
  tenantId: string,
  page: {
    readonly since: Date;
    readonly after: { readonly at: Date; readonly id: string } | null;
    readonly limit: number;
  },
): Promise<readonly AuditRow[]> => {
  const { since, after, limit } = page;
  let query = db
    .selectFrom('user_audit_log')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('created_at', '>=', since);
  if (after !== null) {
    query = query.where((eb) =>
      eb(eb.refTuple('created_at', 'id'), '>', eb.tuple(after.at, sql<string>`${after.id}::uuid`)),
    );
  }
  return query.orderBy('created_at').orderBy('id').limit(limit).execute();
};

export type AuditRow = {
  readonly id: string;
  readonly tenant_id: string;
  readonly actor_id: string | null;
  readonly target_id: string | null;
  readonly target_name: string | null;
  readonly event_type: string;
  readonly details: JsonObject;
  readonly created_at: Date;
};

/** The events of a pattern. Their names are looked up in the index of the log, which a pattern cannot be: rare ones are found at once. */
async function eventsLike(db: Database, like: string): Promise<readonly string[]> {
  const { rows } = await sql<{ readonly event: string }>`
    select event from unnest(${sql.val([...AUDIT_EVENTS])}::text[]) as e (event)
    where event like ${wholePattern(like)}`.execute(db);
  // No event is called so: the list is not empty.
  return rows.length === 0 ? [''] : rows.map(({ event }) => event);
}

/** The rows of the log that are looked for; null = any. */
export type AuditFilter = {
  /** SQL pattern of events. */
  readonly event: string | null;
  readonly actorId: string | null;
  /** The target's name at the time of the event. */
  readonly targetName: string | null;
  readonly targetId: string | null;
  readonly from: Date | null;
  /** The first moment that does not count any more. */
  readonly to: Date | null;
};

/** A page of the rows that a filter finds, the newest first, with the names that their actors have now. */
export async function searchAuditRows(
  db: Database,
  tenantId: string,
  { event, actorId, targetName, targetId, from, to }: AuditFilter,
  { after, limit }: { readonly after: { readonly at: Date; readonly id: string } | null; readonly limit: number },
): Promise<readonly (AuditRow & { readonly actor_name: string | null })[]> {
  let query = db.selectFrom('user_audit_log as l').selectAll('l').where('l.tenant_id', '=', tenantId);
  if (event !== null) query = query.where('l.event_type', 'in', await eventsLike(db, event));
  if (actorId !== null) query = query.where('l.actor_id', '=', actorId);
  if (targetName !== null) query = query.where('l.target_name', '=', targetName);
  if (targetId !== null) query = query.where('l.target_id', '=', targetId);
  if (from !== null) query = query.where('l.created_at', '>=', from);
  if (to !== null) query = query.where('l.created_at', '<', to);
  if (after !== null) {
    query = query.where((eb) =>
      eb(eb.refTuple('l.created_at', 'l.id'), '<', eb.tuple(after.at, sql<string>`${after.id}::uuid`)),
    );
  }
  return query
    .select(
      sql<
        string | null
      >`(select p.username from catalog.principal p where p.id = l.actor_id and p.tenant_id = l.tenant_id)`.as(
        'actor_name',
      ),
    )
    .orderBy('l.created_at', 'desc')
    .orderBy('l.id', 'desc')
    .limit(limit)
    .execute();
}

/** A page of the tenant's audit log, the newest first. `after` is the time and id of the last row before it. */
export async function readAuditLog(
  db: Database,
  tenantId: string,
  page: {
    /** SQL pattern of events; null = all. */
    readonly like: string | null;
    readonly after: { readonly at: Date; readonly id: string } | null;
    readonly limit: number;
  },
): Promise<readonly AuditRow[]> {
  const { like, after, limit } = page;
  let query = db.selectFrom('user_audit_log').selectAll().where('tenant_id', '=', tenantId);
  if (like !== null) query = query.where('event_type', 'in', await eventsLike(db, like));
  if (after !== null) {
    query = query.where((eb) =>
      eb(eb.refTuple('created_at', 'id'), '<', eb.tuple(after.at, sql<string>`${after.id}::uuid`)),
    );
  }
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
}
