import type { TaskSpec } from '#shared/task/task.ts';
import type { TaskId } from '#shared/id.ts';
import type { LiveWorker } from '../cluster/worker-pool.ts';
import type { StageRoom } from '../distributor/estimate/cluster-cores.ts';
import type { SourceOf } from './input-sources.ts';
import type { TaskTable } from './plan-scans.ts';
import type { Scheduler } from './scheduler.ts';
import type { StageRun } from './stage-run.ts';
import { taskMemory } from './task-memory.ts';
import { inputSpec, partitionTicket, taskSpec, type TaskOwner } from './task-spec.ts';
import type { TaskOutput } from './task-state.ts';

/** A worker, and its room for tasks of a stage. */
export type TaskPlace = { readonly worker: LiveWorker; readonly room: StageRoom };

/** Operators of policies are shown to those alone who may manage them. */
const hidesFigures = ({ policed }: StageRun['fragment']): boolean => policed?.seesPolicies === false;

export const threadsOf = ({ isSmall }: StageRun, { taskCores }: StageRoom): number => (isSmall ? 1 : taskCores);

/** Tasks of a stage that tell their operators to a profile: the first; what each tells is in memory until the query ends. */
const PROFILED_TASKS = 64;

/** Makes what is sent of the tasks of one query. The tickets of outputs are kept, because many tasks read the same ones. */
export class TaskSpecs {
  readonly #scheduler: Scheduler;
  readonly #owner: TaskOwner;
  readonly #tickets = new Map<string, string>();

  constructor(scheduler: Scheduler, owner: TaskOwner) {
    this.#scheduler = scheduler;
    this.#owner = owner;
  }

  /** Describes a task of a stage. `scheduledMs`: the time on slots that the query has had. */
  make(
    stage: StageRun,
    task: number,
    { worker, room }: TaskPlace,
    { id, scheduledMs }: { readonly id: TaskId; readonly scheduledMs: number },
  ): TaskSpec {
    const { fragment } = stage;
    const share = stage.share(task);
    const inputs = fragment.inputs.map(({ fields, reads }, i) =>
      inputSpec(fields, reads, stage.sources(task, i, this.#sourceOf)),
    );
    const read = inputs.reduce((sum, { sources }) => sources.reduce((bytes, one) => bytes + one.bytes, sum), 0);
    const threads = threadsOf(stage, room);
    const { profile } = this.#owner;
    const parts = {
      taskId: id,
      sql: fragment.sql,
      tables: stage.tables(task).map((table) => this.#placed(stage, table)),
      inputs,
      keepJoinOrder: fragment.plan !== null && fragment.policed === undefined,
      collected: fragment.collected,
      output: stage.output,
      threads,
      memoryLimitBytes: taskMemory(stage, this.#owner, {
        workers: this.#scheduler.pool.liveCount(),
        worker: worker.info,
        room,
        threads,
        bytes: share.bytes + read,
      }),
      scheduledMs,
      profile: (profile === 'operators' && task >= PROFILED_TASKS) || hidesFigures(fragment) ? 'none' : profile,
    };
    return taskSpec(this.#owner, parts, this.#scheduler.keyring);
  }

  readonly #sourceOf: SourceOf = (output, partition) => ({
    address: output.worker.address,
    taskId: output.taskId,
    ticket: this.#ticket(output, partition),
  });

  /** Rows that were brought to workers are read there. */
  #placed(stage: StageRun, table: TaskTable): TaskTable {
    const arrival = table.kind === 'rows' ? stage.arrivals.get(table.rows) : undefined;
    return table.kind === 'rows' && arrival !== undefined
      ? { ...table, sources: arrival.given(this.#sourceOf) }
      : table;
  }

  #ticket(output: Pick<TaskOutput, 'taskId'>, partition: number): string {
    const key = `${output.taskId}/${partition}`;
    const known = this.#tickets.get(key);
    if (known !== undefined) return known;
    const ticket = partitionTicket(this.#owner, output.taskId, partition, this.#scheduler.keyring);
    this.#tickets.set(key, ticket);
    return ticket;
  }
}
