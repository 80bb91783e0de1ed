import { Type, type Static, type TProperties } from 'typebox';
import { integer, orNull, record, text } from './schema-parts.ts';

/** The members of a query's profile: `GET /api/query-history/{query_id}/profile`. */

const ms = (description: string) => Type.Number({ description: `${description}, in ms` });

/** The work of one task, or of several together. */
const FIGURES = {
  rows: integer('Rows that they gave'),
  batches: integer('Batches of them'),
  outputBytes: integer('Bytes of them'),
  quanta: integer('Turns on their slots'),
  inputsMs: ms('Time in which they fetched outputs of other tasks'),
  queuedMs: ms('Time in which they waited for memory and a slot'),
  preparingMs: ms('Time in which footers and deletes of their scans were read'),
  scheduledMs: ms('Time on the threads of their slots'),
  blockedMs: ms('Time in which their output was full, because its reader had to catch up'),
  spilledBytes: integer('Most bytes that they had spilled to disk, by samples'),
  peakMemoryBytes: integer('Highest memory of one task, by samples; 0 for one of few turns'),
  bytesScanned: integer('Bytes that they read from storage'),
  receivedBytes: integer('Bytes that they got from other workers'),
} as const;

const optional = <Properties extends TProperties>(properties: Properties) =>
  Type.Partial(record(properties)).properties;

export type TaskProfile = Static<typeof TaskProfile>;
const TaskProfile = record({
  task: integer('Number of the task in its stage, from 0; one that ran again has several entries'),
  worker: text('Name of the worker'),
  threads: integer('Cores that it was allowed'),
  state: Type.Unsafe<TaskState>({
    type: 'string',
    enum: [
      'running',
      'finished',
      'failed',
      'stopped',
      'workerLost',
      'connectionLost',
      'workerEnded',
      'inputLost',
      'refused',
    ] satisfies readonly TaskState[],
    description: 'stopped: the query ended first; what follows it ran again elsewhere',
  }),
  startMs: ms('From the receipt of the statement until the task was sent'),
  elapsedMs: ms('From then to its end, or to now'),
  error: Type.Optional(text('Code of the error that it failed with')),
  ...optional({
    ...FIGURES,
    rowGroups: integer('Row groups of its files'),
    rowGroupsPruned: integer('Those of them that it did not read'),
  }),
});

type TaskState =
  | 'running'
  | 'finished'
  | 'failed'
  | 'stopped'
  | 'workerLost'
  | 'connectionLost'
  | 'workerEnded'
  | 'inputLost'
  | 'refused';

export type ScanProfile = Static<typeof ScanProfile>;
const ScanProfile = record({
  scan: integer('Its number in the query'),
  table: text('The table, or the statement whose rows it reads'),
  snapshot: orNull(Type.String(), 'The snapshot; null for rows, and for a table without one'),
  ...optional({
    rows: integer('Rows that travel with the task'),
    manifests: integer('Manifests of the snapshot'),
    manifestsPruned: integer('Those that were not read'),
    files: integer('Data files of the others'),
    filesPruned: integer('Those that are not read'),
    filesPrunedByPartition: integer('Those of them that a partition value ruled out'),
    deleteFiles: integer('Delete files that are read'),
    rowGroups: integer('Row groups of the files that the tasks read'),
    rowGroupsPruned: integer('Those that they did not read'),
    bytes: integer('Bytes that they read'),
  }),
});

export type StageProfile = Static<typeof StageProfile>;
const StageProfile = record({
  stage: integer('Its number in the query; 0 of a query that runs whole'),
  state: Type.Unsafe<'running' | 'done' | 'failed' | 'stopped'>({
    type: 'string',
    enum: ['running', 'done', 'failed', 'stopped'],
    description: 'stopped: the query ended first',
  }),
  tasksBy: text('single: one task; splits: a task for a share of the files; partitions: a task for each partition'),
  output: text('Where its rows go: gather, broadcast, hash, keep or result'),
  partitions: integer('Partitions of its output'),
  reason: orNull(Type.String(), 'Why its rows change place; null of a query that runs whole'),
  inputs: Type.Array(record({ stage: integer('Stage that it reads'), read: text('partition, all or share') })),
  estimatedRows: orNull(Type.Integer(), 'Rows that were expected, beside `rows`; null when nothing is known'),
  estimatedBytes: orNull(Type.Integer(), 'Bytes that were expected, beside `outputBytes`'),
  ...FIGURES,
  startMs: ms('From the receipt of the statement until it began'),
  elapsedMs: ms('From its begin to its end, or to now'),
  retries: integer('Tasks that ran again'),
  skewSplits: integer('Partitions that were divided because they were much larger than others'),
  tasksKnown: integer('Its tasks, as far as they are known'),
  tasksDone: integer('Those that are done; the figures of the stage are theirs'),
  scans: Type.Array(ScanProfile, { description: 'What it reads of tables' }),
  dynamicFilters: Type.Array(record({ column: text('Column of a scan'), stage: integer('Stage that gave the keys') }), {
    description: 'Conditions that the keys of other stages added to its scans',
  }),
  operators: Type.Optional(
    Type.Array(Type.Unknown(), {
      description:
        'DuckDB’s operators over the first 64 tasks, as EXPLAIN ANALYZE shows them; only queries that are expected to read four million rows, and those of class batch, have them',
    }),
  ),
  tasks: Type.Array(TaskProfile, { description: 'What was sent to workers, in that order' }),
  tasksOmitted: integer('Entries that were left out: those that finished soonest'),
});

/** An operator of a plan with its inputs. */
export type PlanNode = {
  readonly name: string;
  readonly details: readonly string[];
  /** The stage that runs it; null when not all stages have begun. */
  readonly stage: number | null;
  readonly estimates?: { readonly rows: number };
  readonly children: readonly PlanNode[];
  /** Inputs that were left out. */
  readonly omitted?: number;
};

export type QueryRunProfile = Static<typeof QueryRunProfile>;
const QueryRunProfile = record({
  runs: orNull(
    Type.Unsafe<'whole' | 'stages'>({ type: 'string', enum: ['whole', 'stages'] }),
    'whole: on one worker; null before that is known',
  ),
  reason: orNull(Type.String(), 'Why it runs whole'),
  starts: integer('How often it began; more than once when what a lost worker held could not be made again'),
  startMs: ms('From the arrival of the request until this began: 0, or the end of the query before'),
  planMs: ms('From the receipt of the statement, or the end of its query before, until it was planned'),
  queuedMs: ms('Time in which it waited for its place'),
  distributeMs: ms('Time in which its files were listed and it was divided into stages'),
  runMs: ms('From then to its end, or to now'),
  estimatedRows: orNull(Type.Integer(), 'Rows that its plan was expected to give'),
  showsPolicies: Type.Optional(
    Type.Boolean({ description: 'It has what is below the policies of a table, for those alone who may manage them' }),
  ),
  plan: Type.Array(Type.String(), {
    description: 'EXPLAIN of it; without any value when history does not keep those of the statement',
  }),
  planTree: orNull(
    Type.Unsafe<PlanNode>({ type: 'object', additionalProperties: true }),
    'The plan as a tree: `name`, `details`, `stage`, `estimates` with `rows`, `children`, and `omitted` inputs of one with more than 500 nodes; ' +
      'without any value that `plan` does not have; null when it is not known or was left out',
  ),
  stages: Type.Array(StageProfile, { description: 'Its stages, in the order in which they began' }),
});

/** The part of a profile beside the times of the record, when the statement has planned a query. */
export const PROFILE = optional({
  workload: record({
    class: orNull(Type.String(), 'interactive, medium or batch; null before it is classified'),
    reasons: Type.Array(text('What decided')),
    estimatedRows: orNull(Type.Integer(), 'Rows of all its scans, as they were expected'),
    resourceGroup: text('Path of the group that it was admitted to'),
    priority: integer('Higher means more important'),
  }),
  queries: Type.Array(QueryRunProfile, {
    description: 'The queries of the statement, in the order in which they ran; most have one',
  }),
  queriesOmitted: integer('Queries that were left out'),
  isCut: Type.Boolean({ description: 'It was too long: tasks, operators or lines of the plan were left out' }),
});
