import { SkeinError } from '#shared/error.ts';
import type { PrincipalId, QueryId, TaskId, TenantId } from '#shared/id.ts';
import type { Keyring } from '#shared/keyring.ts';
import { signText, verifyText } from '#shared/signed-text.ts';
import { credentialId, type StorageCredential, type StorageGrant } from '#shared/storage/credential.ts';
import { openRoots } from '#shared/storage/denied-roots.ts';

/**
 * A coordinator's signed permission for a worker: this task of this query may read below these locations until the expiry. Whoever reads a
 * partition needs the same ticket with its number. Form: a signed text (`signed-text.ts`), which is JSON.
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

/** The right that a scan of a task needs: roots, and the credential to read below them. */
export type ScanAccess = { readonly allowedRoots: readonly string[]; readonly credential: StorageCredential };

/** The grants that a task with these scans needs. */
export function grantsOf(scans: readonly ScanAccess[]): readonly StorageGrant[] {
  const grants = scans.flatMap(({ allowedRoots, credential }) =>
    openRoots(allowedRoots).map((location) => ({ location, credentialId: credentialId(credential) })),
  );
  return [...new Map(grants.map((grant) => [JSON.stringify(grant), grant])).values()];
}

export const signTicket = (ticket: Ticket, keyring: Keyring): string => signText(JSON.stringify(ticket), keyring);

/** @throws UNAUTHENTICATED when no accepted secret has signed it, it is malformed, or it has expired. */
export function verifyTicket(signed: string, keyring: Keyring, nowMs: number): Ticket {
  const verified = verifyText(signed, keyring);
  if ('problem' in verified) throw new SkeinError('UNAUTHENTICATED', `the ticket ${verified.problem}`);
  const ticket = JSON.parse(verified.text) as Ticket;
  if (ticket.expiresAtMs < nowMs) throw new SkeinError('UNAUTHENTICATED', 'the ticket has expired');
  return ticket;
}
