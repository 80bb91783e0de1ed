import { sql } from 'kysely';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { DeliveryStatus } from './principal-tables.ts';
import type { Database, Tx } from './tables.ts';

/** Webhooks of tenants, and the deliveries to them. `recordEvent` makes deliveries, in the transaction of the event. */

/** The owner of a sealed secret: that of no other webhook is opened in its place. */
export const webhookSecretOwner = (id: string): string => `webhook ${id}`;

export type WebhookRow = {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly createdAt: Date;
};

const webhooks = (db: Database, tenantId: string) =>
  db
    .selectFrom('webhook')
    .select(['id', 'name', 'url', 'events', 'created_at as createdAt'])
    .where('tenant_id', '=', tenantId);

export const findWebhook = (db: Database, tenantId: string, name: string): Promise<WebhookRow | undefined> =>
  webhooks(db, tenantId).where('name_folded', '=', foldIdentifier(name)).executeTakeFirst();

export const listWebhooks = (db: Database, tenantId: string): Promise<readonly WebhookRow[]> =>
  webhooks(db, tenantId).orderBy('name').execute();

export async function insertWebhook(
  tx: Tx,
  tenantId: string,
  webhook: WebhookRow & { readonly sealedSecret: string },
): Promise<void> {
  const { id, name, url, events, createdAt, sealedSecret } = webhook;
  await tx
    .insertInto('webhook')
    .values({
      id,
      tenant_id: tenantId,
      name,
      url,
      secret_sealed: sealedSecret,
      events: [...events],
      created_at: createdAt,
    })
    .execute();
}

/** Deletes a webhook with its deliveries. */
export async function deleteWebhook(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('webhook').where('id', '=', id).execute();
}

/** The sealed secrets of all webhooks, locked until the end of the transaction. */
export const sealedWebhookSecrets = (
  tx: Tx,
): Promise<readonly { readonly id: string; readonly secret_sealed: string }[]> =>
  tx.selectFrom('webhook').select(['id', 'secret_sealed']).orderBy('id').forUpdate().execute();

export async function replaceSealedSecret(tx: Tx, id: string, sealed: string): Promise<void> {
  await tx.updateTable('webhook').set({ secret_sealed: sealed }).where('id', '=', id).execute();
}

export type DeliveryRow = {
  readonly id: string;
  readonly webhook: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly created_at: Date;
  readonly due_at: Date | null;
  readonly delivered_at: Date | null;
};

/**
 * A page of the deliveries to a tenant's webhooks, or to one of them, the newest first. `after` is the id of the last one before it. Each
 * webhook's newest are found by their index, so that the deliveries of other tenants are never read.
 */
export async function listDeliveries(
  db: Database,
  tenantId: string,
  page: { readonly webhookId: string | null; readonly after: string | null; readonly limit: number },
): Promise<readonly DeliveryRow[]> {
  const { webhookId, after, limit } = page;
  let query = db
    .selectFrom('webhook as w')
    .innerJoinLateral(
      (eb) => {
        const newest = eb.selectFrom('webhook_delivery as d').selectAll('d').whereRef('d.webhook_id', '=', 'w.id');
        const page = after === null ? newest : newest.where('d.id', '<', after);
        return page.orderBy('d.id', 'desc').limit(limit).as('d');
      },
      (join) => join.onTrue(),
    )
    .select([
      'd.id',
      'w.name as webhook',
      'd.event_id',
      'd.event_type',
      'd.status',
      'd.attempts',
      'd.last_status',
      'd.last_error',
      'd.created_at',
      'd.due_at',
      'd.delivered_at',
    ])
    .where('w.tenant_id', '=', tenantId);
  if (webhookId !== null) query = query.where('w.id', '=', webhookId);
  return query.orderBy('d.id', 'desc').limit(limit).execute();
}

/** Lets deliveries that have failed begin anew: all of the webhook, or that of one event. @returns how many */
export async function retryDeliveries(
  tx: Tx,
  webhookId: string,
  { eventId, now }: { readonly eventId: string | null; readonly now: Date },
): Promise<number> {
  let query = tx
    .updateTable('webhook_delivery')
    .set({ status: 'pending', attempts: 0, due_at: now })
    .where('webhook_id', '=', webhookId)
    .where('status', '=', 'failed');
  if (eventId !== null) query = query.where('event_id', '=', eventId);
  return Number((await query.executeTakeFirst()).numUpdatedRows);
}

export type Receiver = { readonly id: string; readonly url: string; readonly sealedSecret: string };

/** The webhooks that have deliveries which are due. */
export const receiversWithDue = (db: Database, now: Date): Promise<readonly Receiver[]> =>
  db
    .selectFrom('webhook as w')
    .select(['w.id', 'w.url', 'w.secret_sealed as sealedSecret'])
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('webhook_delivery as d')
          .select('d.id')
          .whereRef('d.webhook_id', '=', 'w.id')
          .where('d.due_at', '<=', now),
      ),
    )
    .execute();

/** A delivery that one catalog process has taken, for as long as until `claimedUntil`. */
export type ClaimedDelivery = {
  readonly id: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly body: string;
  /** Attempts before this one. */
  readonly attempts: number;
  readonly claimedUntil: Date;
};

/**
 * Takes some deliveries of a webhook that are due, the oldest first. They are due again at `until`: when the process that has taken them is
 * gone by then, another one takes them.
 */
export async function claimDeliveries(
  db: Database,
  webhookId: string,
  { now, until, count }: { readonly now: Date; readonly until: Date; readonly count: number },
): Promise<readonly ClaimedDelivery[]> {
  const { rows } = await sql<Omit<ClaimedDelivery, 'claimedUntil'>>`
    with taken as (
      select id from catalog.webhook_delivery
      where webhook_id = ${webhookId} and due_at <= ${now}
      order by due_at, id limit ${count} for update skip locked
    )
    update catalog.webhook_delivery as d set due_at = ${until} from taken where d.id = taken.id
    returning d.id, d.event_id as "eventId", d.event_type as "eventType", d.body, d.attempts`.execute(db);
  return rows.map((row) => ({ ...row, claimedUntil: until })).toSorted((a, b) => Number(a.id) - Number(b.id));
}

/** How a delivery goes on after an attempt. */
export type AttemptEnd = {
  readonly status: Exclude<DeliveryStatus, 'pending'>;
  readonly httpStatus: number | null;
  readonly error: string | null;
  readonly now: Date;
  /** Null = never. */
  readonly dueAt: Date | null;
};

/** Records the end of an attempt, unless another process has taken the delivery since. */
export async function endAttempt(db: Database, delivery: ClaimedDelivery, end: AttemptEnd): Promise<void> {
  await db
    .updateTable('webhook_delivery')
    .set({
      status: end.status,
      attempts: delivery.attempts + 1,
      last_status: end.httpStatus,
      last_error: end.error,
      due_at: end.dueAt,
      delivered_at: end.status === 'delivered' ? end.now : null,
    })
    .where('id', '=', delivery.id)
    .where('due_at', '=', delivery.claimedUntil)
    .execute();
}

/** Puts off a delivery that could not be tried, for a reason that is not its receiver's. */
export async function putOffDelivery(
  db: Database,
  delivery: ClaimedDelivery,
  error: string,
  dueAt: Date,
): Promise<void> {
  await db
    .updateTable('webhook_delivery')
    .set({ last_error: error, due_at: dueAt })
    .where('id', '=', delivery.id)
    .where('due_at', '=', delivery.claimedUntil)
    .execute();
}

/** Deletes deliveries that have ended, of events before a moment. @returns how many */
export async function forgetDeliveries(db: Database, before: Date): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('webhook_delivery')
    .where('due_at', 'is', null)
    .where('created_at', '<', before)
    .executeTakeFirst();
  return Number(numDeletedRows);
}
