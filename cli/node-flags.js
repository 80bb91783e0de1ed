// JavaScript, because `skein.js` reads it before it knows which Node it runs on.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Node's options for every process of Skein. */
export const NODE_FLAGS = ['--disable-warning=ExperimentalWarning'];

/**
 * The heaps of workers and of the coordinator are small, and the batches that pass through them lie outside. By default V8 marks the whole
 * heap for every 64 MB of these, which takes a sixth of a worker's CPU time in a query that exchanges much data, and half of the
 * coordinator's while a client takes a large result. These options count external memory with the heap and make the heap large from the
 * start. They belong to V8 13 of Node 24, and must be set before the first heap exists.
 */
const BATCH_FLAGS = process.versions.v8.startsWith('13.')
  ? ['--external-memory-accounted-in-global-limit', '--initial-heap-size=256']
  : [];

/**
 * A collection while the process is idle shrinks the young generation to its smallest size, by default 1 MB, from which it grows slowly: the
 * statements after it would cost the coordinator a third more CPU. This is the size, in MB, that it reaches by itself under load.
 */
const FRONT_FLAGS = ['--min-semi-space-size=16'];

/**
 * The options of a service's process.
 * @param {string} service
 */
export const serviceFlags = (service) => [
  ...NODE_FLAGS,
  ...(service === 'worker' ? [] : FRONT_FLAGS),
  ...(service === 'catalog' ? [] : BATCH_FLAGS),
];

/** Node's compile cache: types are not stripped and code is not compiled again at every start. Without write access there is no cache. */
export const COMPILE_CACHE = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules', '.cache', 'skein');

/**
 * The C library gives each thread an arena of its own, and an arena keeps up to 64 MiB of freed memory at its end, which `malloc_trim`
 * returns to the system for the first arena alone. The catalog and the coordinator do nearly all of their work in one thread, so they use
 * the first arena alone. A worker's threads are many and DuckDB's among them, so each keeps its arena, with 8 MiB at its end: with less,
 * the batches of a large result would be new pages each time, a tenth of its CPU.
 */
const ONE_ARENA = { MALLOC_ARENA_MAX: '1' };
const SMALL_ARENAS = { MALLOC_MMAP_THRESHOLD_: String(4 * 2 ** 20), MALLOC_TRIM_THRESHOLD_: String(8 * 2 ** 20) };

/**
 * Environment of a service's process. A running query holds a thread of libuv's pool: with the default of 4, queries would block file
 * access. Threads and child processes find the cache of compiled code only through the environment.
 * @param {string} service
 */
export const serviceEnvironment = (service) => ({
  UV_THREADPOOL_SIZE: '32',
  NODE_COMPILE_CACHE: COMPILE_CACHE,
  ...(service === 'worker' ? SMALL_ARENAS : ONE_ARENA),
});
