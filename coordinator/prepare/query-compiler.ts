import type { PrepareQuery } from './prepare-request.ts';
import type { Planner } from '../binding/planner.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import type { FragmentChecker } from '../distributor/check-fragments.ts';
import type { DistributorPasses } from '../scheduler/distribute-query.ts';

/** Turns the text of a query into fragments for the workers: the steps, and the planners that they share. */
export type QueryCompiler = {
  readonly planner: Planner;
  readonly prepareQuery: PrepareQuery;
  readonly distributor: DistributorPasses;
  readonly checker: FragmentChecker;
  /** The plan's lines. */
  readonly explain: (query: PreparedQuery, format: 'text' | 'json') => readonly string[];
};
