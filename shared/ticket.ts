import { createHmac } from 'node:crypto';
import { SkeinError } from '#shared/error.ts';
import type { ScanAccess } from '#proto/task.ts';
import type { PrincipalId, QueryId, TaskId, TenantId } from '#shared/id.ts';
import { sameText, type Keyring } from '#shared/keyring.ts';
import type { StorageGrant } from '#shared/storage/credential.ts';

/**
 * A coordinator's signed permission for a worker: this task of this query may read below these locations until the expiry. `DoGet` needs
 * the same ticket with the partition that it opens. Form: `key id.base64url(JSON).base64url(HMAC-SHA256)` under the secret of the cluster
 * that the key id names; a ticket stays valid while that secret is accepted, even after another one has become current.
 */
export type Ticket = {
  readonly queryId: QueryId;
  readonly taskId: TaskId;
  readonly tenant: TenantId;
  readonly principal: PrincipalId;
  readonly epoch: number;
  readonly expiresAtMs: number;
  /** Roots below which the task may read, each with the credential for it. */
  readonly grants: readonly StorageGrant[];
  /** The output partition that a reader may open: one reader, or any number for a spooled output, until the query ends. */
  readonly partition: number;
};

/** The grants that a task with these scans needs. */
export function grantsOf(scans: readonly ScanAccess[]): readonly StorageGrant[] {
  const grants = scans.flatMap(({ allowedRoots, credential }) =>
    allowedRoots.map((location) => ({ location, credential })),
  );
  return [...new Map(grants.map((grant) => [JSON.stringify(grant), grant])).values()];
}

export function signTicket(ticket: Ticket, { current }: Keyring): string {
  const body = Buffer.from(JSON.stringify(ticket)).toString('base64url');
  return `${keyId(current)}.${body}.${mac(body, current)}`;
}

/** @throws UNAUTHENTICATED when no accepted secret has signed it, it is malformed, or it has expired. */
export function verifyTicket(text: string, { accepted }: Keyring, nowMs: number): Ticket {
  const [id = '', body = '', signature = ''] = text.split('.');
  const secret = accepted.find((one) => keyId(one) === id);
  if (secret === undefined) throw new SkeinError('UNAUTHENTICATED', 'the ticket is signed with an unknown key');
  if (!sameText(signature, mac(body, secret))) throw new SkeinError('UNAUTHENTICATED', 'the ticket is not valid');
  const ticket = JSON.parse(Buffer.from(body, 'base64url').toString()) as Ticket;
  if (ticket.expiresAtMs < nowMs) throw new SkeinError('UNAUTHENTICATED', 'the ticket has expired');
  return ticket;
}

/** Returns the id of a secret: 48 bits distinguish the few secrets of a keyring, and reveal no more of them than a signature does. */
const keyId = (secret: string): string =>
  createHmac('sha256', secret).update('ticket key id').digest('base64url').slice(0, 8);

const mac = (body: string, secret: string): string => createHmac('sha256', secret).update(body).digest('base64url');
