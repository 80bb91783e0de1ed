import type { Json } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { columnsOfCall } from './function-table.ts';
import type { ServedCall } from './served-calls.ts';

/**
 * Aggregates over windows, and what they should give, found without any window: every row is joined with the rows of its frame, and the
 * aggregate is that of a group. `FRAMED` is the table of functions with a key that has ties and NULLs.
 */

export const framedSql = (seed: number): readonly string[] => [
  `CREATE TABLE keyed AS SELECT *, CASE WHEN hash(id, ${seed}) % 9 = 8 THEN NULL ELSE hash(id, ${seed}, 1) % 4 END AS t,
   hash(id, ${seed}, 2) % 5 <> 1 AS kept FROM calls`,
  `CREATE TABLE framed AS SELECT *, row_number() OVER (PARTITION BY g ORDER BY t NULLS LAST, id) AS at,
   dense_rank() OVER (PARTITION BY g ORDER BY t NULLS LAST) AS peers FROM keyed`,
];

type Frame = { readonly sql: string; readonly holds: string; readonly peers: 'at' | 'peers' };

const GROUPED = 'PARTITION BY g ORDER BY t NULLS LAST';
/** Frames with what is true of their rows: `i` is a row of the frame of `o`. */
const FRAMES: readonly Frame[] = [
  {
    sql: `${GROUPED} GROUPS BETWEEN 2 PRECEDING AND 1 FOLLOWING`,
    holds: 'i.peers BETWEEN o.peers - 2 AND o.peers + 1',
    peers: 'peers',
  },
  {
    sql: `${GROUPED} GROUPS BETWEEN 2 FOLLOWING AND 3 FOLLOWING`,
    holds: 'i.peers BETWEEN o.peers + 2 AND o.peers + 3',
    peers: 'peers',
  },
  { sql: `${GROUPED} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING`, holds: 'true', peers: 'peers' },
  { sql: `${GROUPED} RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW`, holds: 'i.peers <= o.peers', peers: 'peers' },
  {
    sql: `${GROUPED}, id ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING`,
    holds: 'i.at BETWEEN o.at - 3 AND o.at + 1',
    peers: 'at',
  },
];

const EXCLUSIONS: readonly { readonly sql: string; readonly keeps: (peers: Frame['peers']) => string }[] = [
  { sql: '', keeps: () => 'true' },
  { sql: ' EXCLUDE CURRENT ROW', keeps: () => 'i.id <> o.id' },
  { sql: ' EXCLUDE GROUP', keeps: (peers) => `i.${peers} <> o.${peers}` },
  { sql: ' EXCLUDE TIES', keeps: (peers) => `(i.${peers} <> o.${peers} OR i.id = o.id)` },
];

export type WindowFrame = { readonly sql: string; readonly holds: string };
export const WINDOW_FRAMES: readonly WindowFrame[] = FRAMES.flatMap(({ sql, holds, peers }) =>
  EXCLUSIONS.map((exclusion) => ({ sql: sql + exclusion.sql, holds: `${holds} AND ${exclusion.keeps(peers)}` })),
);

export const CALL_FORMS = ['plain', 'filter', 'distinct'] as const;
export type CallForm = (typeof CALL_FORMS)[number];

/** Calls of aggregates over the framed table: up to `count` of each function, with other types of arguments. */
export function windowCalls(calls: readonly ServedCall[], count: number): readonly ServedCall[] {
  const usable = calls.filter(
    // A window over VARIANT takes a NULL for a value, in every way. `first` and `last` of a window are other functions.
    ({ kind, name, text }) => kind === 'aggregate' && !/VARIANT/.test(text) && !/^(?:first|last)$/.test(name),
  );
  return [...Map.groupBy(usable, ({ name }) => name).values()].flatMap((same) => {
    const step = Math.max(1, Math.floor(same.length / count));
    return same.filter((_, i) => i % step === 0).slice(0, count);
  });
}

const hasNoArgument = ({ text }: ServedCall): boolean => /\(\s*\*?\s*\)$/.test(text);

/** Whether a call has the form: `count(*)` has no DISTINCT. */
export const hasForm = (call: ServedCall, form: CallForm): boolean => form !== 'distinct' || !hasNoArgument(call);

function textOf(call: ServedCall, table: string, form: CallForm): string {
  const text = must(columnsOfCall(call, table), 'the types of its arguments are known');
  return form === 'distinct' ? text.replace('(', '(DISTINCT ') : text;
}

/** The calls over a window, as `c0`, `c1` and so on, and behind them what else the statement has. */
export function overWindow(
  calls: readonly ServedCall[],
  form: CallForm,
  frame: WindowFrame,
  beside: readonly string[] = [],
): string {
  const filter = form === 'filter' ? ' FILTER (WHERE kept)' : '';
  const list = calls.map((call) => `${textOf(call, 'w', form)}${filter} OVER (${frame.sql})`);
  return `SELECT w.id, ${[...list, ...beside].map((sql, i) => `${sql} AS c${i}`).join(', ')} FROM framed AS w`;
}

/** Orders of the rows of a frame; an aggregate whose answer depends on them has no single right answer. */
export const ROW_ORDERS = ['', ' ORDER BY i.t NULLS LAST, i.id', ' ORDER BY i.id DESC'] as const;

/** The same without windows. */
export function overGroups(calls: readonly ServedCall[], form: CallForm, frame: WindowFrame, order: string): string {
  const filter = `i.id IS NOT NULL${form === 'filter' ? ' AND i.kept' : ''}`;
  const list = calls.map((call, i) => {
    const text = textOf(call, 'i', form);
    const ordered = order === '' || hasNoArgument(call) ? text : `${text.slice(0, -1)}${order})`;
    return `${ordered} FILTER (WHERE ${filter}) AS c${i}`;
  });
  return `SELECT o.id, ${list.join(', ')} FROM framed o LEFT JOIN framed i ON i.g = o.g AND ${frame.holds} GROUP BY o.id`;
}

/** By how much two doubles may differ: their sums depend on the order of addition, and sums near zero have lost their digits. */
const RELATIVE = 1e-8;
const ABSOLUTE = 1e-5;

export function isSameValue(a: Json | undefined, b: Json | undefined): boolean {
  if (typeof a === 'number' && typeof b === 'number') {
    return Math.abs(a - b) <= ABSOLUTE + RELATIVE * Math.max(Math.abs(a), Math.abs(b));
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((one: Json, i) => isSameValue(one, (b as readonly Json[])[i]));
  }
  return JSON.stringify(a) === JSON.stringify(b);
}
