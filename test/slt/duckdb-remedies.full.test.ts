import { beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { hasUnsoundWindows, unsoundOptimizers, windowMode } from '#shared/sql/unsound-optimizers.ts';
import { batches, functionTable } from '#test/oracle/function-table.ts';
import { servedCalls, type ServedCall } from '#test/oracle/served-calls.ts';
import {
  CALL_FORMS,
  framedSql,
  hasForm,
  isSameValue,
  overGroups,
  overWindow,
  ROW_ORDERS,
  windowCalls,
  WINDOW_FRAMES,
  type CallForm,
  type WindowFrame,
} from '#test/oracle/window-calls.ts';
import { newSeed } from '#test/support/seed.ts';

type Table = Awaited<ReturnType<typeof functionTable>>;

/** Calls of each aggregate, and how many stand in a statement. */
const CALLS_OF_EACH = 3;
const CALLS_AT_ONCE = 24;
/** Brings a statement under the remedy for windows. */
const HEALED = 'mad(w.id) OVER (ORDER BY w.id ROWS 3 PRECEDING EXCLUDE CURRENT ROW)';
/** Window functions that are no aggregates. */
const FUNCTIONS = [
  'row_number()',
  'rank()',
  'dense_rank()',
  'percent_rank()',
  'cume_dist()',
  'ntile(3)',
  'lag(x0)',
  'lead(x1, 2, 0)',
  'first_value(x0 ORDER BY id)',
  'last_value(x0 IGNORE NULLS ORDER BY id)',
  'nth_value(x1, 2 ORDER BY id)',
  'fill(id)',
];
const seed = newSeed();

let table: Table;
let calls: readonly ServedCall[];
let everyOptimizer: string;

beforeAll(async () => {
  table = await functionTable();
  for (const sql of framedSql(seed)) await table.connection.run(sql);
  const served = (await servedCalls(table.connection)).calls;
  calls = windowCalls(served, CALLS_OF_EACH);
  const optimizers = await table.connection.runAndReadAll("SELECT string_agg(name, ',') FROM duckdb_optimizers()");
  everyOptimizer = String(optimizers.getRows()[0]?.[0]);
});

/** Answers as a worker does, or without any remedy and optimizer. */
async function ask(sql: string, asWorker: boolean): Promise<Answer> {
  const optimizers = asWorker ? unsoundOptimizers({ sql, process: 'worker', mentions: 1 }).join(',') : everyOptimizer;
  await table.connection.run(`SET disabled_optimizers = '${optimizers}'`);
  await table.connection.run(`SET debug_window_mode = '${windowMode(asWorker && hasUnsoundWindows(sql))}'`);
  const answer = await table.ask(sql);
  if (answer.kind === 'error') return { error: answer.message };
  return { rows: answer.rows.toSorted((a, b) => Number(a[0]) - Number(b[0])) };
}

type Answer = { readonly rows: readonly (readonly Json[])[] } | { readonly error: string };

/** The values of a call, in the order of `id`. */
type Column = readonly Json[];

/** The answers of each call; null for one that fails. */
async function answersOf(
  asked: readonly ServedCall[],
  text: (calls: readonly ServedCall[]) => string,
  asWorker: boolean,
): Promise<readonly (Column | null)[]> {
  const answer = await ask(text(asked), asWorker);
  if ('rows' in answer) return asked.map((_, i) => answer.rows.map((row) => row[i + 1] ?? null));
  if (asked.length === 1) return [null];
  const half = Math.ceil(asked.length / 2);
  return [
    ...(await answersOf(asked.slice(0, half), text, asWorker)),
    ...(await answersOf(asked.slice(half), text, asWorker)),
  ];
}

/** The right answer of each call; null where that depends on the order of rows, or the call fails. */
async function truths(asked: readonly ServedCall[], form: CallForm, frame: WindowFrame) {
  // DISTINCT takes no order but that of its argument, so its calls are judged in their plain form.
  const judged = form === 'distinct' ? 'plain' : form;
  const orders: (readonly (Column | null)[])[] = [];
  for (const order of ROW_ORDERS) {
    orders.push(await answersOf(asked, (some) => overGroups(some, judged, frame, order), false));
  }
  const found =
    form === 'distinct' ? await answersOf(asked, (some) => overGroups(some, form, frame, ''), false) : orders[0];
  return asked.map((_, i) => {
    const given = orders.map((answers) => answers[i]).filter((one) => one !== null);
    const [first] = given;
    return first !== undefined && given.every((one) => isSameValue(one, first)) ? (found?.[i] ?? null) : null;
  });
}

describe('remedies against wrong windows', () => {
  test.each(CALL_FORMS)('every aggregate over every window is right, %s', { timeout: 900_000 }, async (form) => {
    const wrong: string[] = [];
    let compared = 0;
    for (const frame of WINDOW_FRAMES) {
      const asked = calls.filter((call) => hasForm(call, form));
      for (const batch of batches(asked, CALLS_AT_ONCE, () => '')) {
        const wanted = await truths(batch, form, frame).catch(() => batch.map(() => null));
        const ways = {
          alone: (some: readonly ServedCall[]) => overWindow(some, form, frame),
          'beside a call that has a remedy': (some: readonly ServedCall[]) => overWindow(some, form, frame, [HEALED]),
        };
        for (const [way, text] of Object.entries(ways)) {
          const got = await answersOf(batch, text, true);
          for (const [i, call] of batch.entries()) {
            const [right, given] = [wanted[i] ?? null, got[i] ?? null];
            if (right === null || given === null) continue;
            compared += 1;
            if (isSameValue(right, given)) continue;
            wrong.push(`${form} ${call.text} ${frame.sql} ${way}\n${JSON.stringify(given)}\n${JSON.stringify(right)}`);
          }
        }
      }
    }
    expect(wrong.slice(0, 20), `${wrong.length} of ${compared} from seed ${seed}`).toEqual([]);
    expect(compared).toBeGreaterThan(1000);
  });

  test('window functions are what they are without remedies and optimizers', async () => {
    for (const { sql } of WINDOW_FRAMES) {
      for (const call of FUNCTIONS) {
        const over = `${call} OVER (${call.startsWith('fill') ? 'PARTITION BY g ORDER BY id' : sql})`;
        const wanted = await ask(`SELECT id, ${over} FROM framed`, false);
        expect(await ask(`SELECT id, ${over} FROM framed`, true), over).toEqual(wanted);
        const beside = await ask(`SELECT w.id, ${over}, ${HEALED} FROM framed AS w`, true);
        if ('rows' in beside && 'rows' in wanted) {
          expect(
            beside.rows.map((row) => row.slice(0, 2)),
            over,
          ).toEqual(wanted.rows);
        } else expect('error' in beside, over).toBe('error' in wanted);
      }
    }
  });

  test('the remedy goes to no aggregate that it does not heal', async () => {
    await table.connection.run(
      'CREATE TABLE few AS SELECT i AS id, CASE WHEN i < 36 THEN (i * 77) % 211 % 17 END AS k FROM range(60) r(i)',
    );
    const frames = [
      ['20 PRECEDING AND 5 FOLLOWING', 'i.id BETWEEN o.id - 20 AND o.id + 5'],
      ['UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING', 'true'],
    ];
    const harmless: string[] = [];
    let healed = 0;
    for (const name of new Set(calls.map((call) => call.name))) {
      for (const distinct of ['', 'DISTINCT ']) {
        const call = (value: string): string => `"${name}"(${distinct}${value}${/quantile/.test(name) ? ', 0.3' : ''})`;
        let wrong = 0;
        for (const [frame, holds] of frames) {
          const windowed = `SELECT id, ${call('k')} OVER (ORDER BY id ROWS BETWEEN ${frame} EXCLUDE CURRENT ROW) FROM few`;
          if (!hasUnsoundWindows(windowed)) continue;
          const joined = `FROM few o JOIN few i ON ${holds} AND i.id <> o.id GROUP BY o.id`;
          const right = await ask(`SELECT o.id, ${call('i.k')} ${joined}`, false);
          expect(await ask(windowed, true), windowed).toEqual(right);
          wrong += JSON.stringify(await ask(windowed, false)) === JSON.stringify(right) ? 0 : 1;
        }
        if (wrong > 0) healed += 1;
        else if (hasUnsoundWindows(`${call('k')} OVER (EXCLUDE TIES)`)) harmless.push(call('k'));
      }
    }
    expect(harmless).toEqual([]);
    expect(healed).toBeGreaterThan(4);
  });
});

/** Each is off for some statements, or for all. */
const OPTIMIZERS = [
  'top_n_window_elimination',
  'window_self_join',
  'common_subplan',
  'common_subexpressions',
  'column_lifetime',
  'expression_rewriter',
  'deliminator',
];

describe('optimizers that are off', () => {
  test('every aggregate is the same without each of them', { timeout: 300_000 }, async () => {
    const wrong: string[] = [];
    const frame = must(WINDOW_FRAMES[5], 'a frame');
    for (const batch of batches(calls, CALLS_AT_ONCE, () => '')) {
      const wanted = await truths(batch, 'plain', frame);
      for (const optimizer of OPTIMIZERS) {
        for (const text of [overWindow(batch, 'plain', frame), overGroups(batch, 'plain', frame, '')]) {
          await table.connection.run(`SET disabled_optimizers = '${optimizer}'; SET debug_window_mode = 'window'`);
          const answer = await table.ask(text);
          if (answer.kind === 'error') continue;
          const rows = answer.rows.toSorted((a, b) => Number(a[0]) - Number(b[0]));
          for (const [i, { name, text: call }] of batch.entries()) {
            const given = rows.map((row) => row[i + 1] ?? null);
            const isKnown = /^mad$/.test(name);
            if (wanted[i] === null || isKnown || isSameValue(given, wanted[i])) continue;
            wrong.push(`${optimizer} ${call}\n${JSON.stringify(given)}\n${JSON.stringify(wanted[i])}`);
          }
        }
      }
    }
    expect(wrong.slice(0, 20), `${wrong.length} from seed ${seed}`).toEqual([]);
  });
});
