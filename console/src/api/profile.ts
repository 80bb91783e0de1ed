/** How a query ran, as `GET /api/query-history/{id}/profile` answers; only the members that the page shows. */
export type QueryProfile = {
  readonly queryId: string;
  readonly status: string;
  readonly queuedAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly workload?: {
    readonly class: string | null;
    readonly reasons: readonly string[];
    readonly estimatedRows: number | null;
    readonly resourceGroup: string;
    readonly priority: number;
  };
  readonly queries?: readonly QueryRun[];
};

export type QueryRun = {
  readonly runs: 'whole' | 'stages' | null;
  readonly reason: string | null;
  readonly starts: number;
  readonly startMs: number;
  readonly planMs: number;
  readonly queuedMs: number;
  readonly distributeMs: number;
  readonly runMs: number;
  readonly estimatedRows: number | null;
  readonly plan: readonly string[];
  readonly stages: readonly Stage[];
};

export type Stage = {
  readonly stage: number;
  readonly state: string;
  readonly tasksBy: string;
  readonly output: string;
  readonly reason: string | null;
  readonly inputs: readonly { readonly stage: number; readonly read: string }[];
  readonly estimatedRows: number | null;
  readonly rows: number;
  readonly outputBytes: number;
  readonly spilledBytes: number;
  readonly peakMemoryBytes: number;
  readonly bytesScanned: number;
  readonly scheduledMs: number;
  readonly startMs: number;
  readonly elapsedMs: number;
  readonly retries: number;
  readonly tasksKnown: number;
  readonly tasksDone: number;
  readonly scans: readonly Scan[];
  readonly tasks: readonly Task[];
};

export type Scan = {
  readonly table: string;
  readonly files?: number;
  readonly filesPruned?: number;
  readonly manifestsPruned?: number;
  readonly deleteFiles?: number;
  readonly rowGroups?: number;
  readonly rowGroupsPruned?: number;
  readonly bytes?: number;
};

export type Task = {
  readonly task: number;
  readonly worker: string;
  readonly state: string;
  readonly startMs: number;
  readonly elapsedMs: number;
  readonly rows?: number;
};
