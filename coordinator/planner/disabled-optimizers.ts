import { unsoundOptimizers } from '#shared/sql/unsound-optimizers.ts';

/**
 * Optimisers that are off while a plan is printed. `column_lifetime` makes the printer fail on a quarter of the plans; the others add
 * things that SQL cannot express (compressed columns, flipped joins, dynamic filters, regular expression bounds that are not UTF-8).
 * Workers run them on the fragments. `statistics_propagation` must stay on.
 */
const DISABLED_OPTIMIZERS = [
  'column_lifetime',
  'build_side_probe_side',
  'compressed_materialization',
  'join_filter_pushdown',
  'late_materialization',
  'top_n',
  'common_subplan',
  'in_clause',
  'regex_range',
];

/** The list of the optimizers that are off while this statement's plan is made, as DuckDB's setting has it. */
export const disabledOptimizers = (sql: string): string =>
  [...new Set([...DISABLED_OPTIMIZERS, ...unsoundOptimizers({ sql, process: 'planner', mentions: 0 })])].join(',');
