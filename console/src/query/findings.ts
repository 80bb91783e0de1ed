import type { QueryProfileEntry } from '#coordinator/api/http/api-types.ts';
import type { QueryRunProfile, ScanProfile, StageProfile } from '#coordinator/profile/profile-types.ts';
import { printBytes, printCount, printMs } from '../app/print-figures.ts';

/** A reason for the time of a query, in a sentence with its figures. */
type Finding = { readonly rule: Rule; readonly text: string };
type Rule = keyof typeof RULES;

/** Shorter waits are not worth a word. */
const WAIT_MS_MIN = 200;
const WAIT_SHARE_MIN = 0.2;
const SKEW_TASKS_MIN = 4;
const SKEW_FACTOR = 4;
const SKEW_MS_MIN = 200;
const ESTIMATE_FACTOR = 10;
const ESTIMATE_ROWS_MIN = 1_000;
const UNPRUNED_FILES_MIN = 10;
const SMALL_FILES_MIN = 20;
const SMALL_FILE_BYTES = 8 * 2 ** 20;

const totalOf = ({ planMs, queuedMs, distributeMs, runMs }: QueryRunProfile): number =>
  planMs + queuedMs + distributeMs + runMs;
const read = ({ files = 0, filesPruned = 0 }: ScanProfile): number => files - filesPruned;

/** Each rule looks at one run of a query, and answers a sentence for each thing that it finds. */
const RULES = {
  waited: (run: QueryRunProfile): readonly string[] => {
    const isLong = run.queuedMs >= WAIT_MS_MIN && run.queuedMs >= totalOf(run) * WAIT_SHARE_MIN;
    return isLong
      ? [
          `It waited ${printMs(run.queuedMs)} of ${printMs(totalOf(run))} for its place: the limit of its group, or the memory, was taken.`,
        ]
      : [];
  },
  spilled: ({ stages }: QueryRunProfile) =>
    stages
      .filter(({ spilledBytes }) => spilledBytes > 0)
      .map(
        ({ stage, spilledBytes }) =>
          `Stage ${stage} wrote ${printBytes(spilledBytes)} to disk, because its memory was not enough: more memory, or fewer rows, would be faster.`,
      ),
  skewed: ({ stages }: QueryRunProfile) => stages.flatMap(skewOf),
  estimate: ({ stages }: QueryRunProfile) => stages.flatMap(estimateOf),
  unpruned: ({ stages }: QueryRunProfile) =>
    scansOf(stages)
      .filter((scan) => read(scan) >= UNPRUNED_FILES_MIN && (scan.filesPruned ?? 0) + (scan.manifestsPruned ?? 0) === 0)
      .filter(({ rowGroupsPruned = 0 }) => rowGroupsPruned === 0)
      .map((scan) => `It read all ${printCount(read(scan))} files of ${scan.table}: no condition ruled one out.`),
  smallFiles: ({ stages }: QueryRunProfile) =>
    scansOf(stages)
      .filter(
        (scan) =>
          read(scan) >= SMALL_FILES_MIN && (scan.bytes ?? 0) > 0 && (scan.bytes ?? 0) / read(scan) < SMALL_FILE_BYTES,
      )
      .map(
        (scan) =>
          `${scan.table} has small files: ${printCount(read(scan))} were read, ${printBytes((scan.bytes ?? 0) / read(scan))} of each. OPTIMIZE makes them larger.`,
      ),
  deletes: ({ stages }: QueryRunProfile) =>
    scansOf(stages)
      .filter(({ deleteFiles = 0 }) => deleteFiles > 0)
      .map(
        (scan) =>
          `${printCount(scan.deleteFiles ?? 0)} delete files of ${scan.table} were applied while it was read. OPTIMIZE takes them away.`,
      ),
  retries: ({ stages, starts }: QueryRunProfile) => [
    ...(starts > 1 ? [`It began ${starts} times, because what a lost worker held could not be made again.`] : []),
    ...stages
      .filter(({ retries }) => retries > 0)
      .map(
        ({ stage, retries }) =>
          `${printCount(retries)} ${retries === 1 ? 'task' : 'tasks'} of stage ${stage} ran again.`,
      ),
  ],
} as const satisfies Record<string, (run: QueryRunProfile) => readonly string[]>;

const scansOf = (stages: readonly StageProfile[]): readonly ScanProfile[] => stages.flatMap(({ scans }) => scans);

function skewOf({ stage, tasks }: StageProfile): readonly string[] {
  const times = tasks
    .filter(({ state }) => state === 'finished')
    .map(({ elapsedMs }) => elapsedMs)
    .toSorted((a, b) => a - b);
  const [middle = 0, longest = 0] = [times[times.length >> 1], times.at(-1)];
  const isSkewed = times.length >= SKEW_TASKS_MIN && longest >= SKEW_MS_MIN && longest >= middle * SKEW_FACTOR;
  return isSkewed
    ? [
        `The longest task of stage ${stage} took ${printMs(longest)}, the middle one ${printMs(middle)}: its rows are not spread evenly.`,
      ]
    : [];
}

function estimateOf({ stage, state, estimatedRows, rows }: StageProfile): readonly string[] {
  if (estimatedRows === null || state !== 'done') return [];
  const [few, many] = [Math.max(1, Math.min(estimatedRows, rows)), Math.max(estimatedRows, rows)];
  return many >= ESTIMATE_ROWS_MIN && many / few >= ESTIMATE_FACTOR
    ? [
        `Stage ${stage} gave ${printCount(rows)} rows where ${printCount(estimatedRows)} were expected. ANALYZE of its tables may mend the plan.`,
      ]
    : [];
}

/** Finds in the profile of a query where its time went. */
export function findings({ queries = [] }: QueryProfileEntry): readonly Finding[] {
  return queries.flatMap((run) =>
    (Object.keys(RULES) as Rule[]).flatMap((rule) => RULES[rule](run).map((text) => ({ rule, text }))),
  );
}
