/** How far a statement is that waits or runs, as `GET /api/query/{id}` answers. */
export type QueryState = {
  readonly state: string;
  readonly resource_group: string;
  readonly queue_position: number | null;
  readonly reason: string | null;
  readonly workload_class: string | null;
  readonly elapsed_ms: number;
  readonly progress: {
    readonly rows_produced: number;
    readonly bytes_scanned: number;
    readonly tasks: number;
    readonly tasks_running: number;
    readonly tasks_done: number;
    readonly workers: readonly string[];
  };
};
