import fc, { type Arbitrary } from 'fast-check';
import { must } from '#shared/must.ts';
import { Choices, drawnChoices } from './choices.ts';
import { isOrdered, type FilledCall } from './function-table.ts';
import type { Forced, Nothing, Oracle, Outcome } from './oracle.ts';
import { printQuery, randomQuery, simplerQuery, type RandomQuery } from './random-query.ts';
import type { Form, UsableCall, UsableCalls } from './random-expressions.ts';
import { randomStatement, type RandomStatement } from './random-statement.ts';
import { randomTables, type RandomTable } from './random-tables.ts';
import type { ServedCalls } from './served-calls.ts';

/** A question to both engines: a query over the fixed tables, or the decisions that make a statement over the random tables. */
export type Question =
  | { readonly kind: 'query'; readonly query: RandomQuery }
  | { readonly kind: 'statement'; readonly drawn: readonly number[] };

export const randomQuestion: Arbitrary<Question> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('query' as const), query: randomQuery }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('statement' as const), drawn: drawnChoices }) },
);

const DRAWN_FOR_TABLES = 400;

/** The tables of a seed; no other seed has tables of the same names. */
export function tablesOf(seed: number): readonly RandomTable[] {
  const drawn = fc.array(fc.nat(2 ** 30), { minLength: DRAWN_FOR_TABLES, maxLength: DRAWN_FOR_TABLES });
  return randomTables(`r${seed}`, fc.sample(drawn, { numRuns: 1, seed })[0] ?? []);
}

/** The calls, by where they may stand. */
export function usableCalls(calls: readonly FilledCall[]): UsableCalls {
  const usable = { rows: [] as UsableCall[], groups: [] as UsableCall[], window: [] as UsableCall[] };
  for (const call of calls) {
    if (isOrdered(call)) continue;
    usable[call.form].push(call.sql.startsWith('TRY(') ? { ...call, text: `TRY(${call.text})` } : call);
  }
  return { scalar: usable.rows, aggregate: usable.groups, window: usable.window };
}

/** The forms in which a question is asked, the next one when nothing was compared. */
const FORMS: readonly (Form & {
  /** Share of a statement's decisions that is dropped from the start: the rest makes another, smaller statement. */
  readonly leftOut: number;
})[] = [
  { isFiltered: true, isGuarded: false, isTypical: false, leftOut: 0 },
  { isFiltered: false, isGuarded: true, isTypical: false, leftOut: 0 },
  { isFiltered: false, isGuarded: true, isTypical: true, leftOut: 0 },
  { isFiltered: false, isGuarded: true, isTypical: true, leftOut: 0.5 },
];

/** Counts the questions, those in which nothing could be compared, by reason, and the signatures of all functions that were compared. */
export class Questions {
  asked = 0;
  readonly nothing = new Map<Nothing, number>();
  readonly compared = new Set<string>();
  readonly #oracle: Oracle;
  readonly #tables: readonly RandomTable[];
  readonly #calls: UsableCalls;

  constructor(oracle: Oracle, tables: readonly RandomTable[], calls: UsableCalls) {
    this.#oracle = oracle;
    this.#tables = tables;
    this.#calls = calls;
  }

  /** The share of the questions at which nothing was compared. */
  get nothingShare(): number {
    return [...this.nothing.values()].reduce((sum, count) => sum + count, 0) / Math.max(1, this.asked);
  }

  /** Asks both engines, in simpler forms as long as nothing is compared; returns the last text as well. */
  async ask(
    question: Question,
    distributions?: readonly Forced[],
  ): Promise<{ readonly sql: string; readonly outcome: Outcome }> {
    this.asked++;
    const texts = new Set<string>();
    let asked: { readonly sql: string; readonly outcome: Outcome } | undefined;
    for (const form of FORMS) {
      const { sql, signatures } = this.#statementOf(question, form);
      if (texts.has(sql)) continue;
      texts.add(sql);
      const outcome = await this.#oracle.compare(sql, distributions, { asksEmpty: texts.size === 1 });
      asked = { sql, outcome };
      if (outcome.kind === 'nothing') continue;
      for (const signature of signatures) this.compared.add(signature);
      return asked;
    }
    const { sql, outcome } = must(asked, 'there is a form');
    if (outcome.kind === 'nothing') this.nothing.set(outcome.why, (this.nothing.get(outcome.why) ?? 0) + 1);
    return { sql, outcome };
  }

  #statementOf(question: Question, form: (typeof FORMS)[number]): RandomStatement {
    if (question.kind === 'query') return { sql: printQuery(simplerQuery(question.query, form)), signatures: [] };
    const drawn = question.drawn.slice(Math.floor(question.drawn.length * form.leftOut));
    return randomStatement(new Choices(drawn), { tables: this.#tables, calls: this.#calls }, form);
  }
}

/** The served signatures that were never compared, sorted. */
export const neverCompared = ({ signatures }: ServedCalls, compared: ReadonlySet<string>): readonly string[] =>
  signatures.filter((signature) => !compared.has(signature));
