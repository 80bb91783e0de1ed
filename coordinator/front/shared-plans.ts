import { isDeepStrictEqual } from 'node:util';
import { literalPlaces, withLiterals, type LiteralPlaces } from '../planner/compared-literals.ts';
import type { Plan } from '../planner/plan.ts';
import type { PreparedQuery } from '../planner/prepared-query.ts';
import { FairCache } from './fair-cache.ts';
import type { ComparedLiteral } from './query-template.ts';

type Literals = readonly ComparedLiteral[];

/** A query that was planned for other literals, and its plan with those asked for. */
export type SharedPlan = { readonly query: PreparedQuery; readonly plan: Plan };

/** A query that was planned, its literals, and their places in its plan. */
type Planned = {
  readonly query: PreparedQuery;
  readonly plan: Plan;
  readonly places: LiteralPlaces;
  readonly literals: Literals;
  /** Whether another query of the template, with other literals, was planned in the same way. */
  readonly isConfirmed: boolean;
};

/**
 * Plans that are shared by queries which differ in the values of literals only. A plan is shared when each literal stands at one place of it
 * (`literalPlaces`), and after two queries with different literals have got the same plan but for these, and the same columns.
 */
export class SharedPlans {
  readonly #plans: FairCache<Planned>;

  constructor(entriesMax: number) {
    this.#plans = new FairCache(entriesMax);
  }

  find(key: string, literals: Literals): SharedPlan | undefined {
    const known = this.#plans.get(key);
    if (known === undefined || !known.isConfirmed) return undefined;
    const plan = withLiterals(known.plan, known.places, literals);
    return plan === null ? undefined : { query: known.query, plan };
  }

  /** Takes a query that was planned by itself. */
  add(owner: string, key: string, query: PreparedQuery, literals: Literals): void {
    const { plan } = query;
    const places = plan === null ? null : literalPlaces(plan, literals);
    if (plan === null || places === null) return;
    const known = this.#plans.get(key);
    const isConfirmed = known !== undefined && areAlike(known, { query, plan, literals });
    this.#plans.set(owner, key, { query, plan, places, literals, isConfirmed });
  }
}

function areAlike(known: Planned, { query, plan, literals }: Pick<Planned, 'query' | 'plan' | 'literals'>): boolean {
  const isOther = literals.every(({ value }, i) => value !== known.literals[i]?.value);
  if (!isOther || !isDeepStrictEqual(known.query.columns, query.columns)) return false;
  return isDeepStrictEqual(withLiterals(known.plan, known.places, literals), plan);
}
