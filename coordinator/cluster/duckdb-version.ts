import project from '../../package.json' with { type: 'json' };

/**
 * The DuckDB release that this coordinator plans with, such as `1.5.5`: that of the pinned package (`1.5.5-r.5` is the fifth packaging of
 * it). Read from the project and not from the library, which only the planner's processes load.
 */
export const DUCKDB_VERSION: string = project.dependencies['@duckdb/node-api'].replace(/-.*$/, '');
