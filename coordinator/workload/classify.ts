import type { JsonObject } from '#shared/json.ts';
import { printCount } from '#shared/print-count.ts';
import type { PlanFeatures } from '../plan/plan-features.ts';
import type { QueryType } from '../statement/query-type.ts';
import { WORK_CLASSES, type WorkClass } from './work-class.ts';

/** The class of a query, and why. */
export type Classification = {
  readonly workClass: WorkClass;
  /** The part of the plan, or the person, that decided: `3 joins`, `about 2,000,000 rows`. */
  readonly reasons: readonly string[];
  /** Estimated rows of all scans. */
  readonly estimatedRows: number;
  /** The session has set the class: it stays. */
  readonly isSet: boolean;
  /** Policies stand between a table and the reader: he is told the class, and no number of rows. */
  readonly hidesRows?: boolean;
};

/** The numbers of joins, scans and estimated rows from which a query is of the named class (service specification, Limits). */
const BATCH_JOINS = 3;
const MEDIUM_SCANS = 3;
const MEDIUM_ROWS = 100_000;
/** A query with more estimated rows than this is `batch`. */
const MEDIUM_ROWS_MAX = 10_000_000;

export type ClassFeatures = Omit<PlanFeatures, 'selective' | 'generatedRows' | 'resultRows'>;

export type ClassifyOptions = {
  /** The session's `service.workload_class`; `auto` leaves the choice to the plan. */
  readonly setting: string;
};

/** Types of statements that move no rows. A query of theirs, such as that of EXPLAIN ANALYZE, has a class of its own. */
const MOVES_NONE: ReadonlySet<QueryType> = new Set(['ddl', 'show', 'set', 'transaction', 'explain']);

/** Whether statements of this type may plan queries, which wait for a place before they run. */
export const plansQueries = (type: QueryType): boolean => !MOVES_NONE.has(type) || type === 'explain';

const NO_ROWS: Classification = {
  workClass: 'interactive',
  reasons: ['it moves no rows'],
  estimatedRows: 0,
  isSet: false,
};

/** The class of a statement before a query of it is classified; null when that depends on its query. */
export const classOfType = (type: QueryType): Classification | null => (MOVES_NONE.has(type) ? NO_ROWS : null);

/** Classifies a query by its plan, unless the session has set a class; that of a statement that writes, too. */
export function classify(features: ClassFeatures, { setting }: ClassifyOptions): Classification {
  const { estimatedRows } = features;
  const set = WORK_CLASSES.find((one) => one === setting);
  if (set !== undefined) {
    return { workClass: set, reasons: [`SET service.workload_class = '${set}'`], estimatedRows, isSet: true };
  }
  const batch = batchReasons(features);
  if (batch.length > 0) return { workClass: 'batch', reasons: batch, estimatedRows, isSet: false };
  const medium = mediumReasons(features);
  if (medium.length > 0) return { workClass: 'medium', reasons: medium, estimatedRows, isSet: false };
  const reasons = ['no joins', 'no windows', aboutRows(estimatedRows)];
  return { workClass: 'interactive', reasons, estimatedRows, isSet: false };
}

const batchReasons = ({ joins, windows, aggregates, estimatedRows }: ClassFeatures): readonly string[] => [
  ...(joins >= BATCH_JOINS ? [count(joins, 'join')] : []),
  ...(windows > 0 && aggregates > 0 ? ['a window and an aggregate'] : []),
  ...(estimatedRows > MEDIUM_ROWS_MAX ? [aboutRows(estimatedRows)] : []),
];

const mediumReasons = ({ joins, windows, scans, estimatedRows }: ClassFeatures): readonly string[] => [
  ...(joins > 0 ? [count(joins, 'join')] : []),
  ...(windows > 0 ? ['a window'] : []),
  ...(scans >= MEDIUM_SCANS ? [count(scans, 'scan')] : []),
  ...(estimatedRows >= MEDIUM_ROWS ? [aboutRows(estimatedRows)] : []),
];

const count = (amount: number, noun: string): string => `${amount} ${noun}${amount === 1 ? '' : 's'}`;

const aboutRows = (rows: number): string => `about ${printCount(rows)} rows`;

/** The line of EXPLAIN that says the class, its reasons and, where that is none of them, the estimate. */
export function printClass(classification: Classification): string {
  const { workClass, estimatedRows, hidesRows = false } = classification;
  const reasons = shownReasons(classification);
  const estimate = aboutRows(estimatedRows);
  const all = hidesRows || reasons.includes(estimate) ? reasons : [...reasons, estimate];
  return `Workload class: ${workClass} (${all.join(', ')})`;
}

/** The same as members of a JSON document. */
export const classJson = (classification: Classification): JsonObject => ({
  workload_class: classification.workClass,
  class_reasons: shownReasons(classification),
  estimated_rows: shownRows(classification),
});

/** The reasons that a reader is told. */
export const shownReasons = ({ reasons, hidesRows = false }: Classification): readonly string[] =>
  hidesRows ? [...reasons.filter((reason) => !reason.includes(' rows')), 'policies apply'] : reasons;

/** The estimate that a reader is told; null = none. */
export const shownRows = ({ estimatedRows, hidesRows = false }: Classification): number | null =>
  hidesRows ? null : estimatedRows;

/**
 * Scheduled time in which a query of a class was expected to end, in ms: where the first two levels of the specification's queue end. A
 * query that takes `OUTGROWN` times as long was guessed too low.
 */
const EXPECTED_MS: Readonly<Record<WorkClass, number>> = { interactive: 1_000, medium: 10_000, batch: Infinity };
const OUTGROWN = 10;

/** The work of a running query so far. */
export type WorkDone = {
  /** Rows that its scans read or its finished stages gave. */
  readonly rows: number;
  /** Scheduled time on all workers. */
  readonly scheduledMs: number;
};

/** Classifies a running query again when it has outgrown its estimate tenfold; null = its class stays. */
export function reclassify(now: Classification, { rows, scheduledMs }: WorkDone): Classification | null {
  const { workClass, estimatedRows, isSet } = now;
  if (isSet || workClass === 'batch') return null;
  const again = (to: WorkClass, reason: string): Classification => ({ ...now, workClass: to, reasons: [reason] });
  if (rows >= OUTGROWN * Math.max(1, estimatedRows)) {
    const to = rows > MEDIUM_ROWS_MAX ? 'batch' : rows >= MEDIUM_ROWS ? 'medium' : 'interactive';
    if (WORK_CLASSES.indexOf(to) > WORK_CLASSES.indexOf(workClass))
      return again(to, `it has read ${printCount(rows)} rows, ${OUTGROWN} times its estimate`);
  }
  if (scheduledMs < OUTGROWN * EXPECTED_MS[workClass]) return null;
  const to = workClass === 'interactive' ? 'medium' : 'batch';
  return again(
    to,
    `it has run for ${Math.round(scheduledMs / 1_000)} s on the slots, ${OUTGROWN} times what its class is for`,
  );
}
