import { createHmac, timingSafeEqual } from 'node:crypto';
import { SkeinError } from '#shared/error.ts';
import type { PrincipalId, QueryId, TaskId, TenantId } from '#shared/id.ts';

/**
 * What a coordinator signs for a worker: this task of this query may read these locations until then. `DoGet` needs the same ticket
 * with the partition it opens. Form: `base64url(JSON).base64url(HMAC-SHA256)` under the cluster's secret.
 */
export type Ticket = {
  readonly queryId: QueryId;
  readonly taskId: TaskId;
  readonly tenant: TenantId;
  readonly principal: PrincipalId;
  readonly epoch: number;
  readonly expiresAtMs: number;
  /** Roots below which the task may read. */
  readonly locations: readonly string[];
  /** The one output partition that a reader may open; of a spooled output any number of readers may, until the query ends. */
  readonly partition: number;
};

export function signTicket(ticket: Ticket, secret: string): string {
  const body = Buffer.from(JSON.stringify(ticket)).toString('base64url');
  return `${body}.${mac(body, secret)}`;
}

/** @throws UNAUTHENTICATED when the signature is wrong, the form is off, or it has expired. */
export function verifyTicket(text: string, secret: string, nowMs: number): Ticket {
  const [body = '', signature = ''] = text.split('.');
  if (!sameText(signature, mac(body, secret))) throw new SkeinError('UNAUTHENTICATED', 'the ticket is not valid');
  const ticket = JSON.parse(Buffer.from(body, 'base64url').toString()) as Ticket;
  if (ticket.expiresAtMs < nowMs) throw new SkeinError('UNAUTHENTICATED', 'the ticket has expired');
  return ticket;
}

/** Constant-time comparison of two secrets; their lengths may show. */
export function sameText(left: string, right: string): boolean {
  const a = Buffer.from(left);
  const b = Buffer.from(right);
  return a.length === b.length && timingSafeEqual(a, b);
}

const mac = (body: string, secret: string): string => createHmac('sha256', secret).update(body).digest('base64url');
