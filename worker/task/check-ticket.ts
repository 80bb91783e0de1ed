import type { InputSource, SentTask } from '#shared/task/task.ts';
import type { ScanAccess } from '#shared/ticket.ts';
import { SkeinError } from '#shared/error.ts';
import { credentialId } from '#shared/storage/credential.ts';
import { openRoots } from '#shared/storage/denied-roots.ts';
import { isWithin } from '#shared/storage/location.ts';
import type { Ticket } from '#shared/ticket.ts';

/** Checks that a task is the one that its ticket was signed for. @throws UNAUTHENTICATED */
export function checkTaskTicket(spec: SentTask, ticket: Ticket): void {
  const same =
    ticket.taskId === spec.taskId &&
    ticket.queryId === spec.queryId &&
    ticket.tenant === spec.tenant &&
    ticket.principal === spec.principal &&
    ticket.epoch === spec.epoch;
  if (!same) throw new SkeinError('UNAUTHENTICATED', 'the ticket is for another task');
  const isCovered = ({ allowedRoots, credential }: ScanAccess): boolean => {
    const id = credentialId(credential);
    return openRoots(allowedRoots).every((root) =>
      ticket.grants.some((grant) => isWithin(root, grant.location) && grant.credentialId === id),
    );
  };
  const written = 'sink' in spec.output ? [spec.output.sink] : [];
  if (![...spec.access, ...written].every(isCovered)) {
    throw new SkeinError('UNAUTHENTICATED', 'the ticket does not cover the locations of the task');
  }
}

/** Checks that a key is for a task, and for locations that the task may read or write anyway. @throws UNAUTHENTICATED */
export function checkRenewal(spec: SentTask, ticket: Ticket, id: string): void {
  if (ticket.taskId !== spec.taskId || !isOfQuery(ticket, spec)) {
    throw new SkeinError('UNAUTHENTICATED', 'the ticket is for another task');
  }
  const written = 'sink' in spec.output ? [spec.output.sink] : [];
  const roots = [...spec.access, ...written].flatMap(({ allowedRoots }) => openRoots(allowedRoots));
  const grants = ticket.grants.filter((grant) => grant.credentialId === id);
  if (grants.length > 0 && grants.every(({ location }) => roots.some((root) => isWithin(location, root)))) return;
  throw new SkeinError('UNAUTHENTICATED', 'the ticket does not cover the key');
}

/** Checks that a task reads only outputs of its own query, on any worker. @throws UNAUTHENTICATED */
export function checkSourceTicket({ taskId, partition }: InputSource, spec: SentTask, ticket: Ticket): void {
  const isFor = ticket.taskId === taskId && ticket.partition === partition;
  if (!isFor || !isOfQuery(ticket, spec)) throw new SkeinError('UNAUTHENTICATED', 'the ticket is for another output');
}

type OfQuery = Pick<SentTask, 'queryId' | 'tenant'>;

export const isOfQuery = (one: OfQuery, other: OfQuery): boolean =>
  one.queryId === other.queryId && one.tenant === other.tenant;
