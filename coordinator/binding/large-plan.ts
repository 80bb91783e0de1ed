import { compareLiterals } from '#shared/iceberg/compare-literals.ts';
import { decodePredicate, encodePredicate } from '#shared/iceberg/predicate-codec.ts';
import { predicateSize, type Literal, type Predicate } from '#shared/iceberg/predicate.ts';
import type { Json } from '#shared/json.ts';
import { planSources, type PlanSources } from './check-plan.ts';
import { planFeatures, type PlanFeatures } from '../plan/plan-features.ts';
import type { Plan } from '../plan/plan.ts';
import { scanUses, type ReadField, type ScanUse } from '../plan/scan-predicates.ts';

/**
 * Characters of a plan, as JSON, that the coordinator works on; it divides one of this size in 30 ms of CPU time. TPC-DS has at most
 * 92,000. A query with a longer plan, such as one with a list of 4,000 values, runs whole, and all that is known of its plan is a
 * `LargePlan`.
 */
export const PLAN_TEXT_MAX = 256 * 1024;

export type LargePlan = {
  readonly sources: PlanSources;
  readonly features: PlanFeatures;
  /** Like `ScanUse`, with encoded predicates. */
  readonly uses: readonly (Omit<ScanUse, 'predicate'> & { readonly predicate: Json })[];
};

/** Literals and leaves of a predicate that is sent with a task, and compared with every file. */
const LITERALS_MAX = 1_000;

type Scanned = { readonly fields: readonly ReadField[]; readonly rowCount: number | null };

/** Makes the summary of a plan; runs in the planner's process. */
export function sumUp(plan: Plan, scans: readonly Scanned[]): LargePlan {
  const schemas = scans.map(({ fields }) => fields);
  return {
    sources: planSources(plan),
    features: planFeatures(
      plan,
      scans.map(({ rowCount }) => rowCount),
    ),
    uses: scanUses(plan, schemas).map(({ predicate, ...use }) => ({
      ...use,
      predicate: encodePredicate(shortPredicate(predicate)),
    })),
  };
}

export const usesOf = ({ uses }: LargePlan): readonly ScanUse[] =>
  uses.map(({ predicate, ...use }) => ({ ...use, predicate: decodePredicate(predicate) }));

/** Returns the predicate, or a weaker one with at most `LITERALS_MAX` literals and leaves. */
export function shortPredicate(predicate: Predicate): Predicate {
  const { leaves, literals } = predicateSize(predicate);
  if (Math.max(leaves, literals) <= LITERALS_MAX) return predicate;
  if (predicate.kind === 'in') return rangeOf(predicate.fieldId, predicate.values);
  if (predicate.kind !== 'and') return { kind: 'true' };
  const children: Predicate[] = [];
  let left = LITERALS_MAX;
  for (const child of predicate.children.map(shortPredicate)) {
    const size = predicateSize(child);
    left -= Math.max(size.leaves, size.literals);
    if (left < 0) break;
    children.push(child);
  }
  return { kind: 'and', children };
}

/** Weakens an IN list to the range from its least to its greatest value. */
function rangeOf(fieldId: number, [first, ...others]: readonly Literal[]): Predicate {
  if (first === undefined) return { kind: 'false' };
  let least = first;
  let greatest = first;
  for (const value of others) {
    const order = compareLiterals(value, least);
    if (order === undefined) return { kind: 'true' };
    if (order < 0) least = value;
    if ((compareLiterals(value, greatest) ?? 0) > 0) greatest = value;
  }
  return {
    kind: 'and',
    children: [
      { kind: 'compare', op: 'ge', fieldId, value: least },
      { kind: 'compare', op: 'le', fieldId, value: greatest },
    ],
  };
}
