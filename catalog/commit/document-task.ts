import type { WorkPool } from '#shared/thread/work-pool.ts';
import { work, type Work } from '#shared/thread/work.ts';

/**
 * Work on a metadata document: a pure function of values that can be sent. A document of 64 MB takes seconds to parse and to print, and a
 * client decides how large its tables' are, so a large one is worked on by a thread. Texts travel fast; parsed documents would not.
 */
export type DocumentTask<In, Out> = { readonly here: (input: In) => Out; readonly apart: Work<In, Out> };

/** Documents and request bodies up to this size are worked on at once: that takes less than 30 ms for the two of them. */
export const DOCUMENT_BYTES_HERE = 256 * 1024;
export const BODY_BYTES_HERE = 64 * 1024;

const MODULE = new URL('./documents-in-thread.ts', import.meta.url);

/** @param name under which `documents-in-thread.ts` exports the function */
export const documentTask = <In, Out>(here: (input: In) => Out, name: string): DocumentTask<In, Out> => ({
  here,
  apart: work<In, Out>(MODULE, name),
});

/** How large the documents of an input are, whose they are (the tenant), and what they are, for errors. */
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
