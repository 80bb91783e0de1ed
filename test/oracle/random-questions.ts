import fc, { type Arbitrary } from 'fast-check';
import { Choices, drawnChoices } from './choices.ts';
import { filledCalls, isOrdered, type Ask } from './function-table.ts';
import type { Forced, Nothing, Oracle, Outcome } from './oracle.ts';
import { printQuery, randomQuery, type RandomQuery } from './random-query.ts';
import type { UsableCalls } from './random-expressions.ts';
import { randomStatement, type RandomStatement } from './random-statement.ts';
import { randomTables, type RandomTable } from './random-tables.ts';
import type { ServedCall, ServedCalls } from './served-calls.ts';

/** A question to both engines: a query over the fixed tables, or decisions of which a statement over the random tables is made. */
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

/** The calls that DuckDB, which has the table of functions, takes, by where they may stand. */
export async function usableCalls(duckdb: Ask, calls: readonly ServedCall[]): Promise<UsableCalls> {
  const usable = { rows: [] as ServedCall[], groups: [] as ServedCall[], window: [] as ServedCall[] };
  for (const call of calls) {
    const { calls: filled } = await filledCalls(call, duckdb);
    for (const one of filled) if (!isOrdered(one)) usable[one.form].push(call);
  }
  return { scalar: usable.rows, aggregate: usable.groups, window: usable.window };
}

/** What was asked, how often nothing could be compared and why, and the signatures of all functions that were. */
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

  /** Asks both engines; answers the text as well. */
  async ask(
    question: Question,
    distributions?: readonly Forced[],
  ): Promise<{ readonly sql: string; readonly outcome: Outcome }> {
    this.asked++;
    const { sql, signatures } = this.#statementOf(question);
    const outcome = await this.#oracle.compare(sql, distributions);
    if (outcome.kind === 'nothing') this.nothing.set(outcome.why, (this.nothing.get(outcome.why) ?? 0) + 1);
    else for (const signature of signatures) this.compared.add(signature);
    return { sql, outcome };
  }

  #statementOf(question: Question): RandomStatement {
    return question.kind === 'query'
      ? { sql: printQuery(question.query), signatures: [] }
      : randomStatement(new Choices(question.drawn), this.#tables, this.#calls);
  }
}

/** Which served signatures were never compared, sorted. */
export const neverCompared = ({ signatures }: ServedCalls, compared: ReadonlySet<string>): readonly string[] =>
  signatures.filter((signature) => !compared.has(signature));
