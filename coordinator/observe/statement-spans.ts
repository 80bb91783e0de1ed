import { stageTitle } from '../plan/stage-title.ts';
import type { QueryRunProfile, StageProfile, TaskProfile } from '../profile/profile-types.ts';
import type { EndedStatement } from '../query/traces.ts';

/** A part of a statement's time. Times are in ms since 1970. */
export type StatementSpan = {
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** Code of the error that it ended with. */
  readonly error: string | null;
  readonly children: readonly StatementSpan[];
};

/** Spans of one statement, at most: those of the tasks that come last are left out. */
const SPANS_MAX = 1_000;

/**
 * The spans of a statement, which its history tells: no step of a query knows of traces.
 * ```
 * statement > plan, queue, distribute, stage > task
 * ```
 * They have ids, numbers and names of tables, workers and groups, and no text of the statement.
 */
export function statementSpans({ row, workClass, queries }: EndedStatement): StatementSpan {
  const originMs = row.queued_at.getTime();
  const endMs = Math.max(originMs, (row.ended_at ?? row.queued_at).getTime());
  const left = { spans: SPANS_MAX };
  return {
    name: row.query_type,
    startMs: originMs,
    endMs,
    attributes: {
      'db.system.name': 'skein',
      'db.operation.name': row.query_type.toUpperCase(),
      'db.response.returned_rows': row.rows_produced,
      'skein.query_id': row.query_id,
      'skein.tenant': row.tenant_id,
      'skein.user_id': row.user_id,
      'skein.status': row.status,
      'skein.resource_group': row.resource_group,
      ...(workClass === null ? {} : { 'skein.workload_class': workClass }),
      'skein.bytes_scanned': row.bytes_scanned,
    },
    error: row.error_code,
    children: queries.flatMap((query) => querySpans(query, { originMs, endMs, left })),
  };
}

type Within = { readonly originMs: number; readonly endMs: number; readonly left: { spans: number } };

/** The steps of a query, one after the other, and its stages. Nothing ends after the statement: clocks are read at different moments. */
function querySpans(query: QueryRunProfile, within: Within): readonly StatementSpan[] {
  const { planMs, queuedMs, distributeMs, stages, runs, starts } = query;
  let atMs = query.startMs;
  const step = (name: string, ms: number): StatementSpan => {
    const fromMs = atMs;
    atMs += ms;
    return span(name, [fromMs, ms], within);
  };
  const shape = { 'skein.runs': runs ?? 'not', 'skein.starts': starts };
  const steps = [
    { ...step('plan', planMs), attributes: shape },
    step('queue', queuedMs),
    ...(runs === null ? [] : [step('distribute', distributeMs)]),
  ];
  return [...steps, ...stages.map((stage) => stageSpan(stage, within))];
}

function stageSpan(stage: StageProfile, within: Within): StatementSpan {
  const failed = stage.tasks.find(({ error }) => error !== undefined);
  const tasks = stage.tasks.slice(0, within.left.spans);
  within.left.spans -= tasks.length;
  return {
    ...span(`stage ${stageTitle(stage.stage)}`, [stage.startMs, stage.elapsedMs], within),
    attributes: {
      'skein.stage': stage.stage,
      'skein.state': stage.state,
      'skein.tasks': stage.tasksKnown,
      'skein.rows': stage.rows,
      'skein.estimated_rows': stage.estimatedRows ?? -1,
      'skein.bytes_scanned': stage.bytesScanned,
      'skein.spilled_bytes': stage.spilledBytes,
      ...(stage.scans.length === 0 ? {} : { 'skein.tables': stage.scans.map(({ table }) => table).join() }),
    },
    error: stage.state === 'failed' ? (failed?.error ?? 'INTERNAL_ERROR') : null,
    children: tasks.map((task) => taskSpan(task, within)),
  };
}

function taskSpan(task: TaskProfile, within: Within): StatementSpan {
  const { scheduledMs, queuedMs, blockedMs, rows, bytesScanned } = task;
  const figures = { scheduledMs, queuedMs, blockedMs, rows, bytesScanned };
  const known = Object.entries(figures).flatMap(([name, value]) =>
    value === undefined ? [] : [[`skein.${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`, value]],
  );
  return {
    ...span(`task ${task.task}`, [task.startMs, task.elapsedMs], within),
    attributes: {
      'skein.task': task.task,
      'skein.worker': task.worker,
      'skein.threads': task.threads,
      'skein.state': task.state,
      ...(Object.fromEntries(known) as Record<string, number>),
    },
    error: task.error ?? null,
  };
}

function span(name: string, [fromMs, ms]: readonly [number, number], { originMs, endMs }: Within): StatementSpan {
  const startMs = Math.min(endMs, originMs + Math.max(0, fromMs));
  return {
    name,
    startMs,
    endMs: Math.min(endMs, startMs + Math.max(0, ms)),
    attributes: {},
    error: null,
    children: [],
  };
}
