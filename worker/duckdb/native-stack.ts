import koffi from 'koffi';

/**
 * Native code runs on a stack that koffi makes for each thread, of 2 MiB if nobody asks for more before the first library is loaded.
 * DuckDB takes up to 9 KB of it for a query inside of a query (a chain of WITH, say), and allows a thousand of these: with 2 MiB a
 * statement of 300 killed the worker. A planner, in which the statement was planned before, has 8 MiB.
 */
const STACK_BYTES = 16 * 2 ** 20;

if (koffi.config().sync_stack_size !== STACK_BYTES) koffi.config({ sync_stack_size: STACK_BYTES });
