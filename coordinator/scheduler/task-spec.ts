import type { InputSource, InputSpec, OutputSpec, StatementContext, TaskSpec } from '#proto/task.ts';
import type { PrincipalId, QueryId, TaskId, TenantId } from '#shared/id.ts';
import type { Keyring } from '#shared/keyring.ts';
import type { StorageGrant } from '#shared/storage/credential.ts';
import { grantsOf, signTicket } from '#shared/ticket.ts';
import type { WorkerInfo } from '../cluster/worker-link.ts';
import { printSqlType, type SqlField } from '../planner/sql-type.ts';

/** The fields that all tasks of one run of a query share. */
export type TaskOwner = {
  /** Id of this run, not the client's query id: two clients may choose the same one. */
  readonly queryId: QueryId;
  readonly tenant: TenantId;
  readonly principal: PrincipalId;
  readonly epoch: number;
  readonly context: StatementContext;
  readonly memoryLimitBytes: number;
  readonly spillLimitBytes: number;
  readonly profile: boolean;
  readonly bounds: TaskSpec['bounds'];
  /** Time, in ms since 1970, by which the query has ended in any case. */
  readonly deadlineMs: number;
};

export type TaskParts = Pick<
  TaskSpec,
  'taskId' | 'sql' | 'scans' | 'inputs' | 'keepJoinOrder' | 'collected' | 'threads' | 'scheduledMs'
> & {
  readonly output: OutputSpec;
};

/** A ticket is valid for this long after the query's deadline, because clocks of hosts differ. */
const TICKET_MARGIN_MS = 60_000;

export function taskSpec(owner: TaskOwner, parts: TaskParts, worker: WorkerInfo): TaskSpec {
  const { queryId, tenant, principal, epoch, context, spillLimitBytes, profile, bounds } = owner;
  return {
    queryId,
    tenant,
    principal,
    epoch,
    context,
    ...parts,
    memoryLimitBytes: Math.min(owner.memoryLimitBytes, worker.memoryLimitBytes),
    spillLimitBytes,
    pinnedToTop: false,
    profile,
    bounds,
  };
}

/** Signs the ticket that starts a task and reads the rows that it streams. */
export function taskTicket(owner: TaskOwner, spec: TaskSpec, keyring: Keyring): string {
  return ticket(owner, { taskId: spec.taskId, partition: 0, grants: grantsOf(spec.scans) }, keyring);
}

/** Signs the ticket that reads one partition of a task's spooled output. */
export const partitionTicket = (owner: TaskOwner, taskId: TaskId, partition: number, keyring: Keyring): string =>
  ticket(owner, { taskId, partition, grants: [] }, keyring);

function ticket(
  { queryId, tenant, principal, epoch, deadlineMs }: TaskOwner,
  opens: { readonly taskId: TaskId; readonly partition: number; readonly grants: readonly StorageGrant[] },
  keyring: Keyring,
): string {
  return signTicket(
    { queryId, tenant, principal, epoch, expiresAtMs: deadlineMs + TICKET_MARGIN_MS, ...opens },
    keyring,
  );
}

/** Describes an input of a task. Its columns are `c0`, `c1`, ..., as its producer's SQL names them. */
export const inputSpec = (fields: readonly SqlField[], reads: number, sources: readonly InputSource[]): InputSpec => ({
  columns: fields.map(({ type }, i) => ({ name: `c${i}`, type: printSqlType(type) })),
  sources,
  reads,
});
