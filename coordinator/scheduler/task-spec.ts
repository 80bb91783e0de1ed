import { randomUUID } from 'node:crypto';
import type { SqlText } from '#shared/task/sql-text.ts';
import type { InputSource, InputSpec, OutputSpec, ScanSpec, TaskSpec } from '#shared/task/task.ts';
import type { StatementContext } from '#shared/sql/statement-context.ts';
import { taskId, type PrincipalId, type QueryId, type TaskId, type TenantId } from '#shared/id.ts';
import type { Keyring } from '#shared/keyring.ts';
import { must } from '#shared/must.ts';
import type { StorageGrant } from '#shared/storage/credential.ts';
import { grantsOf, signTicket } from '#shared/ticket.ts';
import { printSqlType, type SqlField } from '../plan/sql-type.ts';
import type { TableRows } from '../binding/table-rows.ts';
import type { TaskTable } from './plan-scans.ts';

/** The fields that all tasks of one run of a query share. */
export type TaskOwner = {
  /** Id of this run, not the client's query id: two clients may choose the same one. */
  readonly queryId: QueryId;
  readonly tenant: TenantId;
  readonly principal: PrincipalId;
  readonly epoch: number;
  readonly context: StatementContext;
  /** Memory that the session allows the query on each worker. */
  readonly memoryLimitBytes: number;
  /** Asks for memory up to so many bytes; returns what the query may use on all workers together. */
  readonly growMemory: (wantedBytes: number) => number;
  /** Called with the scheduled time of a task that has ended and the rows that it gave. */
  readonly onWork: (done: { readonly rows: number; readonly scheduledMs: number }) => void;
  /** Whether its tasks stay on the top level of the slots; it may change while the query runs. */
  readonly isPinned: () => boolean;
  /** Its rank among the queries that a worker may cancel for memory, by `coordinator.memory_killer`; it may change while the query runs. */
  readonly killRank: () => TaskSpec['killRank'];
  readonly spillLimitBytes: number;
  readonly profile: TaskSpec['profile'];
  readonly bounds: TaskSpec['bounds'];
  /** Time, in ms since 1970, by which the query has ended in any case. */
  readonly deadlineMs: number;
};

export type TaskParts = Pick<
  TaskSpec,
  | 'taskId'
  | 'sql'
  | 'inputs'
  | 'keepJoinOrder'
  | 'collected'
  | 'threads'
  | 'memoryLimitBytes'
  | 'scheduledMs'
  | 'profile'
> & {
  /** The tables that the text's `{ scan }` numbers index. */
  readonly tables: readonly TaskTable[];
  readonly output: OutputSpec;
};

type RowsTable = Extract<TaskTable, { kind: 'rows' }>;

/** A ticket is valid for this long after the query's deadline, because clocks of hosts differ. */
const TICKET_MARGIN_MS = 60_000;

export function taskSpec(owner: TaskOwner, { tables, ...parts }: TaskParts, keyring: Keyring): TaskSpec {
  const read = readTables({ ...parts, tables }, (task) => partitionTicket(owner, task, 0, keyring));
  const { queryId, tenant, principal, epoch, context, spillLimitBytes, bounds } = owner;
  return {
    queryId,
    tenant,
    principal,
    epoch,
    context,
    ...parts,
    ...read,
    spillLimitBytes,
    pinnedToTop: owner.isPinned(),
    killRank: owner.killRank(),
    bounds,
  };
}

/**
 * Turns the tables of a task into scans and inputs: rows are an input whose one source carries its messages, as the small output of an
 * earlier task does.
 *
 *     FROM {scan 0} JOIN {scan 1}, {input 0}      with rows as table 0
 *     FROM {input 1} JOIN {scan 0}, {input 0}
 */
function readTables(
  { sql, tables, inputs }: Pick<TaskParts, 'sql' | 'tables' | 'inputs'>,
  ticketOf: (task: TaskId) => string,
): Pick<TaskSpec, 'sql' | 'scans' | 'inputs'> {
  const scans: ScanSpec[] = [];
  const all = [...inputs];
  const placeOf = tables.map((table, i): SqlText[number] => {
    if (table.kind === 'files') return { scan: scans.push(table.spec) - 1 };
    const reads = sql.filter((part) => typeof part !== 'string' && 'scan' in part && part.scan === i).length;
    return { input: all.push(rowsInput(table, reads, ticketOf)) - 1 };
  });
  if (scans.length === tables.length) return { sql, scans, inputs };
  const text = sql.map((part) =>
    typeof part !== 'string' && 'scan' in part ? must(placeOf[part.scan], 'a text names its tables') : part,
  );
  return { sql: text, scans, inputs: all };
}

function rowsInput({ rows, sources }: RowsTable, reads: number, ticketOf: (task: TaskId) => string): InputSpec {
  const columns = rows.columns.map(({ name, type }) => ({ name, type: printSqlType(type) }));
  return { columns, sources: sources ?? [carriedRows(rows, ticketOf)], reads };
}

function carriedRows(
  { rowCount, bytes, messages }: Pick<TableRows, 'rowCount' | 'bytes' | 'messages'>,
  ticketOf: (task: TaskId) => string,
): InputSource {
  const id = taskId(randomUUID());
  const source = { address: '', taskId: id, partition: 0, ticket: ticketOf(id), batches: null };
  return { ...source, rows: rowCount, bytes, messages };
}

/** Signs the ticket that starts a task and reads the rows that it streams. */
export function taskTicket(owner: TaskOwner, spec: TaskSpec, keyring: Keyring): string {
  const written = 'sink' in spec.output ? [spec.output.sink] : [];
  return ticket(owner, { taskId: spec.taskId, partition: 0, grants: grantsOf([...spec.scans, ...written]) }, keyring);
}

/** Signs the ticket that reads one partition of a task's spooled output. */
export const partitionTicket = (owner: TaskOwner, taskId: TaskId, partition: number, keyring: Keyring): string =>
  ticket(owner, { taskId, partition, grants: [] }, keyring);

function ticket(
  { queryId, tenant, principal, epoch, deadlineMs }: TaskOwner,
  opens: { readonly taskId: TaskId; readonly partition: number; readonly grants: readonly StorageGrant[] },
  keyring: Keyring,
): string {
  return signTicket({ queryId, tenant, principal, epoch, expiresAtMs: ticketUntil({ deadlineMs }), ...opens }, keyring);
}

/** When the tickets of a run end, in ms since 1970. */
export const ticketUntil = ({ deadlineMs }: Pick<TaskOwner, 'deadlineMs'>): number => deadlineMs + TICKET_MARGIN_MS;

/** Describes an input of a task. Its columns are `c0`, `c1`, ..., as its producer's SQL names them. */
export const inputSpec = (fields: readonly SqlField[], reads: number, sources: readonly InputSource[]): InputSpec => ({
  columns: fields.map(({ type }, i) => ({ name: `c${i}`, type: printSqlType(type) })),
  sources,
  reads,
});
