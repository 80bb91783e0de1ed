// JavaScript, because `skein.js` reads it before it knows which Node it runs on.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Node's options for every process of Skein. */
export const NODE_FLAGS = ['--disable-warning=ExperimentalWarning'];

/**
 * A worker's heap is small, and the batches that pass through it lie outside of it. V8 would mark the whole heap for every 64 MB of
 * them, a sixth of the CPU of a query that exchanges much; counted with the heap, and with room to begin with, they cost little. These
 * are options of V8 13, the one of Node 24; they must be there before the first heap is.
 */
const WORKER_FLAGS = ['--external-memory-accounted-in-global-limit', '--initial-heap-size=256'];

/**
 * The options of a service's process.
 * @param {string} service
 */
export const serviceFlags = (service) =>
  service === 'worker' && process.versions.v8.startsWith('13.') ? [...NODE_FLAGS, ...WORKER_FLAGS] : NODE_FLAGS;

/** Types need not be stripped nor code compiled again at every start; where it cannot be written there is just no cache. */
export const COMPILE_CACHE = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules', '.cache', 'skein');

/**
 * Environment of every service's process. A running query holds a thread of libuv's pool: with the default of 4, queries would block file
 * access. Threads and child processes find the cache of compiled code only through the environment.
 */
export const SERVICE_ENVIRONMENT = { UV_THREADPOOL_SIZE: '32', NODE_COMPILE_CACHE: COMPILE_CACHE };
