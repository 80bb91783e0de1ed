import type { InputSource, InputSpec, OutputSpec, StatementContext, TaskSpec } from '#proto/task.ts';
import type { PrincipalId, QueryId, TaskId, TenantId } from '#shared/id.ts';
import type { Keyring } from '#shared/keyring.ts';
import { signTicket } from '#shared/ticket.ts';
import type { WorkerInfo } from '../cluster/worker-link.ts';
import { printSqlType, type SqlField } from '../planner/sql-type.ts';

/** What all tasks of one run of a query have in common. */
export type TaskOwner = {
  /** Of this run, never a client's: two clients may choose the same id. */
  readonly queryId: QueryId;
  readonly tenant: TenantId;
  readonly principal: PrincipalId;
  readonly epoch: number;
  readonly context: StatementContext;
  readonly memoryLimitBytes: number;
  readonly spillLimitBytes: number;
  readonly profile: boolean;
  readonly bounds: TaskSpec['bounds'];
  /** Time by which the query has ended one way or another. */
  readonly deadlineMs: number;
};

export type TaskParts = Pick<
  TaskSpec,
  'taskId' | 'sql' | 'scans' | 'inputs' | 'keepJoinOrder' | 'collected' | 'threads' | 'scheduledMs'
> & {
  readonly output: OutputSpec;
};

/** A ticket outlives the query's deadline by this: clocks of hosts differ. */
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

/** For the task itself: to start it and to read what it streams. */
export function taskTicket(owner: TaskOwner, spec: TaskSpec, keyring: Keyring): string {
  const locations = [...new Set(spec.scans.flatMap((scan) => scan.allowedRoots))];
  return ticket(owner, { taskId: spec.taskId, partition: 0, locations }, keyring);
}

/** For a reader of one partition of what the task spooled. */
export const partitionTicket = (owner: TaskOwner, taskId: TaskId, partition: number, keyring: Keyring): string =>
  ticket(owner, { taskId, partition, locations: [] }, keyring);

function ticket(
  { queryId, tenant, principal, epoch, deadlineMs }: TaskOwner,
  opens: { readonly taskId: TaskId; readonly partition: number; readonly locations: readonly string[] },
  keyring: Keyring,
): string {
  return signTicket(
    { queryId, tenant, principal, epoch, expiresAtMs: deadlineMs + TICKET_MARGIN_MS, ...opens },
    keyring,
  );
}

/** Columns of an input are `c0`, `c1`, ..., as its producer's text names them. */
export const inputSpec = (fields: readonly SqlField[], reads: number, sources: readonly InputSource[]): InputSpec => ({
  columns: fields.map(({ type }, i) => ({ name: `c${i}`, type: printSqlType(type) })),
  sources,
  reads,
});
