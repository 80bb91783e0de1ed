import { randomUUID } from 'node:crypto';
import { SkeinError } from '#shared/error.ts';
import { isUuid } from '#shared/id.ts';
import type { PrincipalAnswer, RequestOf } from '#shared/principal/principal-request.ts';
import { requirePrincipalAction } from '../authorization/decide-principal.ts';
import type { Database } from '../store/postgres/tables.ts';
import {
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listDeliveries,
  listWebhooks,
  retryDeliveries,
  webhookSecretOwner,
  type DeliveryRow,
  type WebhookRow,
} from '../store/postgres/webhook-store.ts';
import {
  changing,
  changingBeside,
  done,
  listAnswer,
  reading,
  timeText,
  type Call,
  type ListColumns,
} from './change.ts';
import { checkPrincipalName } from './check-names.ts';

const WEBHOOKS_MAX = 100;
/** Characters of a secret (service specification, Limits), and how many it may have. */
const SECRET_LENGTH_MIN = 16;
const SECRET_LENGTH_MAX = 1_024;
const URL_LENGTH_MAX = 2_000;
/** The name of an event, or the beginning of some. */
const EVENTS_ENTRY = /^[a-z0-9_.]{0,64}$/;

async function requireWebhook(db: Database, tenantId: string, name: string): Promise<WebhookRow> {
  const found = name.includes('\0') ? undefined : await findWebhook(db, tenantId, name);
  if (found !== undefined) return found;
  throw new SkeinError('WEBHOOK_NOT_FOUND', `webhook ${name} does not exist`);
}

/** @throws INVALID_REQUEST, ALREADY_EXISTS, LIMIT_REACHED, FORBIDDEN */
export async function createWebhook(call: Call, input: RequestOf<'create_webhook'>): Promise<PrincipalAnswer> {
  const { name, ifNotExists, secret } = input;
  checkPrincipalName('a webhook', name);
  const url = checkedUrl(input.url);
  if (secret.length < SECRET_LENGTH_MIN || secret.length > SECRET_LENGTH_MAX) {
    throw new SkeinError('INVALID_REQUEST', `SECRET has ${SECRET_LENGTH_MIN} to ${SECRET_LENGTH_MAX} characters`);
  }
  if (input.events === undefined) {
    throw new SkeinError(
      'INVALID_REQUEST',
      "CREATE WEBHOOK needs EVENTS, such as EVENTS ('create_user', 'drop_'): it has no default, and '' is every event",
    );
  }
  const events = [...new Set(input.events)];
  if (events.length === 0 || !events.every((entry) => EVENTS_ENTRY.test(entry))) {
    throw new SkeinError('INVALID_REQUEST', "EVENTS are names of events or beginnings of names; '' is every event");
  }
  return changing(call, async ({ tx, tenant, actor, now, record }) => {
    requirePrincipalAction(actor, 'webhook.change');
    const all = await listWebhooks(tx, tenant.id);
    if ((await findWebhook(tx, tenant.id, name)) !== undefined) {
      if (ifNotExists) return done('CREATE WEBHOOK');
      throw new SkeinError('ALREADY_EXISTS', `webhook ${name} exists already`);
    }
    if (all.length >= WEBHOOKS_MAX) {
      throw new SkeinError('LIMIT_REACHED', `an organisation has at most ${WEBHOOKS_MAX} webhooks`);
    }
    const id = randomUUID();
    const sealedSecret = call.context.sealing.seal(secret, webhookSecretOwner(id));
    await insertWebhook(tx, tenant.id, { id, name, url: url.href, events, createdAt: now, sealedSecret });
    // The path of a URL may hold a secret.
    await record({ type: 'create_webhook', target: { id, name }, details: { host: url.host, events } });
    return done('CREATE WEBHOOK');
  });
}

/** Where it leads is looked at when it is called. @throws INVALID_REQUEST */
function checkedUrl(text: string): URL {
  const url = text.length > URL_LENGTH_MAX || !URL.canParse(text) ? undefined : new URL(text);
  if (url?.protocol !== 'https:') {
    throw new SkeinError(
      'INVALID_REQUEST',
      `URL is an address https://host/path of ${URL_LENGTH_MAX} characters at most`,
    );
  }
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    throw new SkeinError('INVALID_REQUEST', 'URL has neither a user nor a password nor a part behind #');
  }
  return url;
}

/** Drops a webhook with all its deliveries. @throws WEBHOOK_NOT_FOUND, FORBIDDEN */
export const dropWebhook = (call: Call, { name, ifExists }: RequestOf<'drop_webhook'>): Promise<PrincipalAnswer> =>
  changing(call, async ({ tx, tenant, actor, record }) => {
    requirePrincipalAction(actor, 'webhook.change');
    if (ifExists && (await findWebhook(tx, tenant.id, name)) === undefined) return done('DROP WEBHOOK');
    const webhook = await requireWebhook(tx, tenant.id, name);
    await deleteWebhook(tx, webhook.id);
    await record({ type: 'drop_webhook', target: { id: webhook.id, name: webhook.name } });
    return done('DROP WEBHOOK');
  });

/** Deliveries that have failed begin anew. @throws WEBHOOK_NOT_FOUND, INVALID_STATE when that of the event has not failed, FORBIDDEN */
export async function retryWebhook(call: Call, { name, event }: RequestOf<'retry_webhook'>): Promise<PrincipalAnswer> {
  if (event !== null && !isUuid(event)) throw new SkeinError('INVALID_REQUEST', 'an event is named by its id, a UUID');
  return changingBeside(call, async ({ tx, tenant, actor, now, record }) => {
    requirePrincipalAction(actor, 'webhook.change');
    const webhook = await requireWebhook(tx, tenant.id, name);
    const deliveries = await retryDeliveries(tx, webhook.id, { eventId: event, now });
    if (event !== null && deliveries === 0) {
      throw new SkeinError('INVALID_STATE', 'no delivery of this event to the webhook has failed');
    }
    const details = { deliveries, ...(event === null ? {} : { event_id: event }) };
    await record({ type: 'retry_webhook', target: { id: webhook.id, name: webhook.name }, details });
    return listAnswer({ deliveries: ['INTEGER', String] }, [deliveries]);
  });
}

/** `SHOW WEBHOOKS`: never a secret. @throws FORBIDDEN */
export async function showWebhooks(call: Call): Promise<PrincipalAnswer> {
  const { db, tenant, actor } = await reading(call);
  requirePrincipalAction(actor, 'webhook.show');
  const columns: ListColumns<WebhookRow> = {
    name: ['VARCHAR', ({ name }) => name],
    url: ['VARCHAR', ({ url }) => url],
    events: ['VARCHAR', ({ events }) => JSON.stringify(events)],
    created_at: ['TIMESTAMP WITH TIME ZONE', ({ createdAt }) => timeText(createdAt)],
  };
  return listAnswer(columns, await listWebhooks(db, tenant.id));
}

const DELIVERIES: ListColumns<DeliveryRow> = {
  webhook: ['VARCHAR', (row) => row.webhook],
  event_id: ['VARCHAR', (row) => row.event_id],
  event_type: ['VARCHAR', (row) => row.event_type],
  status: ['VARCHAR', (row) => row.status],
  attempts: ['INTEGER', (row) => String(row.attempts)],
  last_status: ['INTEGER', (row) => row.last_status?.toString() ?? null],
  last_error: ['VARCHAR', (row) => row.last_error],
  created_at: ['TIMESTAMP WITH TIME ZONE', (row) => timeText(row.created_at)],
  next_attempt_at: ['TIMESTAMP WITH TIME ZONE', (row) => timeText(row.due_at)],
  delivered_at: ['TIMESTAMP WITH TIME ZONE', (row) => timeText(row.delivered_at)],
};

/** `SHOW WEBHOOK DELIVERIES`: the newest first. @throws WEBHOOK_NOT_FOUND, FORBIDDEN */
export async function showDeliveries(
  call: Call,
  { webhook: name, after, limit }: RequestOf<'show_webhook_deliveries'>,
): Promise<PrincipalAnswer> {
  const { db, tenant, actor } = await reading(call);
  requirePrincipalAction(actor, 'webhook.show');
  if (after !== null && !/^\d{1,18}$/.test(after)) throw new SkeinError('INVALID_REQUEST', 'not a place in the list');
  const webhookId = name === null ? null : (await requireWebhook(db, tenant.id, name)).id;
  const rows = await listDeliveries(db, tenant.id, { webhookId, after, limit });
  return listAnswer(DELIVERIES, rows, rows.length < limit ? null : (rows.at(-1)?.id ?? null));
}
