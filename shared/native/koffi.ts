import koffi from 'koffi';

/**
 * Native code runs on a stack that koffi allocates for each thread: 2 MiB, unless configured before the first library is loaded, so all
 * native code is reached through this module. DuckDB takes up to 9 KB of it per nested query (a chain of WITH, say), and allows a thousand
 * levels: with 2 MiB a statement with 300 levels killed the worker. A planner, which has planned the statement before, has 8 MiB.
 */
const STACK_BYTES = 16 * 2 ** 20;

if (koffi.config().sync_stack_size !== STACK_BYTES) koffi.config({ sync_stack_size: STACK_BYTES });

export { koffi };
