import { printBytes } from '../app/print-figures.ts';
import type { Outcome } from './outcome.ts';

const count = (rows: number): string => `${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'}`;

const DONE: Readonly<Record<string, string>> = {
  INSERT: 'inserted',
  UPDATE: 'updated',
  DELETE: 'deleted',
  MERGE: 'merged',
  CREATE: 'written',
};

/** Statements whose rows are data, whatever their columns are called. */
const QUERY = /^\s*(?:SELECT|FROM|WITH|VALUES|TABLE|EXECUTE|\()/i;

/** The deed of a statement without rows, in words; undefined for one whose rows are shown. */
function tellDeed({ result, sql }: Outcome): string | undefined {
  const [first, second] = result.columns;
  if (first === undefined || second !== undefined || result.rowCount !== 1) return undefined;
  const value = result.text(0, 0) ?? '';
  if (first.name === 'status' && !QUERY.test(sql)) return value;
  const verb = DONE[/^\s*(\w+)/.exec(sql)?.[1]?.toUpperCase() ?? ''];
  return first.name === 'count' && verb !== undefined ? `${count(Number(value))} ${verb}` : undefined;
}

/** The line beside the buttons. */
export function tellOutcome(outcome: Outcome): string {
  const { state, rowCount, elapsedMs, isCut, order, progress } = outcome;
  if (state === 'running') return tellProgress(outcome);
  const time = elapsedMs === null ? '' : ` in ${elapsedMs.toLocaleString('en')} ms`;
  if (state === 'failed') return `failed${time.replace(' in', ' after')}`;
  const group =
    progress?.workload_class === undefined || progress.workload_class === null ? '' : `, ${progress.workload_class}`;
  const deed = tellDeed(outcome);
  if (deed !== undefined) return `${deed}${time}${group}`;
  const from = elapsedMs === null ? ', kept from before' : '';
  const by = order === null ? '' : `, by ${order.column}${order.descending ? ' from the largest' : ''}`;
  if (isCut) return `First ${count(rowCount)}${by}${time}${from}: there are more`;
  return `${count(rowCount)}${by}${time}${group}${from}`;
}

/** Where a statement is, why it waits, and how far it has come. */
function tellProgress({ progress, rowCount, isTryingAgain }: Outcome): string {
  if (isTryingAgain) return 'The connection broke: the statement goes on, and its rows are asked for again …';
  const rows = rowCount > 0 ? `, ${count(rowCount)} so far` : '';
  if (progress === null) return `Running …${rows}`;
  const { state, reason, queue_position: place, progress: done } = progress;
  if (place !== null || state === 'queued') {
    return `Waiting${place === null ? '' : `, place ${place}`}${reason === null ? '' : `: ${reason}`}`;
  }
  const tasks = done.tasks === 0 ? '' : `, ${done.tasks_done} of ${done.tasks} tasks`;
  const bytes = done.bytes_scanned === 0 ? '' : `, ${printBytes(done.bytes_scanned)} read`;
  return `${state === 'cancelling' ? 'Cancelling' : 'Running'} …${tasks}${bytes}${rows}`;
}
