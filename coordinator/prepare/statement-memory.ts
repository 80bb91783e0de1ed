import { memoryUses } from '#shared/memory-uses.ts';
import { unreachable } from '#shared/must.ts';
import type { CompareReply } from '../binding/planner.ts';
import type { QueryReferences } from '../binding/query-references.ts';
import { FairCache, type CacheBounds } from './fair-cache.ts';
import type { Memory } from './memory.ts';
import { parsedBytes, plannedBytes, type PlannedQuery } from './planned-query.ts';
import type { ConfirmedPlan } from './shared-plans.ts';

/** The kinds of values that earlier statements leave for later ones. */
type Kinds = {
  readonly parse: QueryReferences;
  readonly plan: PlannedQuery;
  readonly sharedPlan: ConfirmedPlan;
  /** The query of another engine's view in our dialect. */
  readonly translation: string;
  /** Differences of such a query over its tables as they are. */
  readonly comparison: CompareReply;
};
type Remembered = { readonly [Kind in keyof Kinds]: { readonly kind: Kind; readonly value: Kinds[Kind] } }[keyof Kinds];

/**
 * Everything that is remembered of earlier statements, within one bound of entries and bytes (`FairCache`): whoever fills it pushes out
 * their own. With a plan goes what its runs have taught (`PlanMemory`).
 */
export type StatementMemory = { readonly [Kind in keyof Kinds]: Memory<Kinds[Kind]> };

export function statementMemory(bounds: CacheBounds): StatementMemory {
  const cache = new FairCache<Remembered>(bounds, bytesOf);
  const memory = <Kind extends keyof Kinds>(kind: Kind): Memory<Kinds[Kind]> => {
    const uses = memoryUses(`statement_${kind}`);
    return {
      // A key begins with the kind of its value.
      get: (key) => uses.of(cache.get(`${kind} ${key}`)?.value as Kinds[Kind] | undefined),
      set: (owner, key, value) => cache.set(owner, `${kind} ${key}`, { kind, value } as unknown as Remembered),
    };
  };
  return {
    parse: memory('parse'),
    plan: memory('plan'),
    sharedPlan: memory('sharedPlan'),
    translation: memory('translation'),
    comparison: memory('comparison'),
  };
}

/** Approximate memory of a value. */
function bytesOf({ kind, value }: Remembered): number {
  switch (kind) {
    case 'plan':
      return plannedBytes(value);
    case 'sharedPlan':
      return plannedBytes(value.query);
    case 'parse':
    case 'translation':
    case 'comparison':
      return parsedBytes(value);
    default:
      return unreachable(kind);
  }
}
