import type { WorkPool } from '#shared/thread/work-pool.ts';
import { work, type Work } from '#shared/thread/work.ts';

/**
 * A pure function over a metadata document, runnable on the main thread (`here`) or in a worker (`apart`). A document of 64 MB takes
 * seconds to parse and print, and clients decide how large their documents are, so large ones go to a worker. Input and output are texts:
 * those are cheap to send between threads, parsed documents are not.
 */
export type DocumentTask<In, Out> = { readonly here: (input: In) => Out; readonly apart: Work<In, Out> };

/** Documents and request bodies up to this size are processed on the main thread: less than 30 ms for the two of them. */
export const DOCUMENT_BYTES_HERE = 256 * 1024;
export const BODY_BYTES_HERE = 64 * 1024;

/** The module of this room's functions that worker threads run. */
export const METADATA_THREAD = new URL('./documents-in-thread.ts', import.meta.url);

/** @param name under which the module exports the function; each room has a module of its own */
export const documentTask = <In, Out>(here: (input: In) => Out, name: string, module: URL): DocumentTask<In, Out> => ({
  here,
  apart: work<In, Out>(module, name),
});

/** Size of the documents of an input, their owner (the tenant), and what they are, for error messages. */
export type DocumentOwner = { readonly bytes: number; readonly owner: string; readonly what: string };

/** @throws what the function throws; see `WorkPool.run` */
export async function runDocumentTask<In, Out>(
  pool: WorkPool,
  task: DocumentTask<In, Out>,
  input: In,
  about: DocumentOwner,
): Promise<Out> {
  if (about.bytes <= DOCUMENT_BYTES_HERE) return task.here(input);
  return pool.run(task.apart, input, about);
}
