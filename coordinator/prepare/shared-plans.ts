import { isDeepStrictEqual } from 'node:util';
import { literalPlaces, withLiterals, type LiteralPlaces } from '../planner/compared-literals.ts';
import type { Plan } from '../plan/plan.ts';
import type { PlannedQuery } from './planned-query.ts';
import type { ComparedLiteral } from './query-template.ts';
import { newPlanMemory } from '../binding/plan-memory.ts';
import type { Memory } from './memory.ts';

type Literals = readonly ComparedLiteral[];

/** A query that was planned for other literals, and its plan with those asked for. */
export type SharedPlan = { readonly query: PlannedQuery; readonly plan: Plan };

/** A query that was planned, its literals, and their places in its plan. */
export type ConfirmedPlan = {
  readonly query: PlannedQuery;
  readonly plan: Plan;
  readonly places: LiteralPlaces;
  readonly literals: Literals;
  /** The literals whose value made no difference to the plan of another query of the template. */
  readonly confirmed: readonly boolean[];
};

/**
 * Plans that are shared by queries which differ in the values of literals only. A plan is shared when each literal stands at one place of it
 * (`literalPlaces`). A literal may have another value after two queries in which it differed have got the same plan but for that, and the
 * same columns.
 */
export class SharedPlans {
  readonly #plans: Memory<ConfirmedPlan>;

  constructor(plans: Memory<ConfirmedPlan>) {
    this.#plans = plans;
  }

  find(key: string, literals: Literals): SharedPlan | undefined {
    const known = this.#plans.get(key);
    const mayBe = ({ value }: ComparedLiteral, i: number): boolean =>
      known?.confirmed[i] === true || known?.literals[i]?.value === value;
    if (known === undefined || !literals.every(mayBe)) return undefined;
    const plan = withLiterals(known.plan, known.places, literals);
    return plan === null ? undefined : { query: known.query, plan };
  }

  /** Takes a query that was planned by itself. */
  add(owner: string, key: string, query: PlannedQuery, literals: Literals): void {
    const { plan } = query;
    const places = plan === null ? null : literalPlaces(plan, literals);
    if (plan === null || places === null) return;
    const known = this.#plans.get(key);
    const isAlike =
      known !== undefined &&
      isDeepStrictEqual(known.query.columns, query.columns) &&
      isDeepStrictEqual(withLiterals(known.plan, known.places, literals), plan);
    const confirmed = literals.map(
      ({ value }, i) => isAlike && (known.confirmed[i] === true || known.literals[i]?.value !== value),
    );
    // Queries with other literals share the number of rows alone: no fragment is printed from a shared plan.
    const memory = { ...newPlanMemory(), lastRows: known?.query.memory.lastRows ?? null };
    this.#plans.set(owner, key, { query: { ...query, memory }, plan, places, literals, confirmed });
  }
}
