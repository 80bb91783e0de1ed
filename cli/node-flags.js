// JavaScript, because `skein.js` reads it before it knows which Node it runs on.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Node's options for every process of Skein. */
export const NODE_FLAGS = ['--disable-warning=ExperimentalWarning'];

/**
 * A worker's heap is small, and its batches lie outside of it. By default V8 marks the whole heap for every 64 MB of them, which takes a
 * sixth of the CPU time of a query that exchanges much data. These options count external memory with the heap and make the heap large from
 * the start. They belong to V8 13 of Node 24, and must be set before the first heap exists.
 */
const WORKER_FLAGS = ['--external-memory-accounted-in-global-limit', '--initial-heap-size=256'];

/**
 * The options of a service's process.
 * @param {string} service
 */
export const serviceFlags = (service) =>
  service === 'worker' && process.versions.v8.startsWith('13.') ? [...NODE_FLAGS, ...WORKER_FLAGS] : NODE_FLAGS;

/** Node's compile cache: types are not stripped and code is not compiled again at every start. Without write access there is no cache. */
export const COMPILE_CACHE = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules', '.cache', 'skein');

/**
 * Environment of every service's process. A running query holds a thread of libuv's pool: with the default of 4, queries would block file
 * access. Threads and child processes find the cache of compiled code only through the environment.
 */
export const SERVICE_ENVIRONMENT = { UV_THREADPOOL_SIZE: '32', NODE_COMPILE_CACHE: COMPILE_CACHE };
