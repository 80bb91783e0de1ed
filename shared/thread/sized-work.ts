import type { WorkCall, WorkPool } from './work-pool.ts';
import { work, type Work } from './work.ts';

/**
 * A pure function of values that can be sent between threads, whose cost grows with the size of a client's input. Small inputs are
 * processed on the calling thread, which is faster than sending them; large ones by a pool thread. Inputs should be texts or bytes: sending
 * large objects would be slow.
 */
export type SizedWork<In, Out> = { readonly here: (input: In) => Out; readonly apart: Work<In, Out> };

/** @param module URL of the module that exports the function, made by `inThread`, under `name` */
export const sizedWork = <In, Out>(here: (input: In) => Out, module: URL, name: string): SizedWork<In, Out> => ({
  here,
  apart: work<In, Out>(module, name),
});

/** @throws what the function throws; see `WorkPool.run` */
export async function runSized<In, Out>(
  pool: WorkPool,
  sized: SizedWork<In, Out>,
  input: In,
  call: WorkCall & { readonly bytes: number; readonly bytesHere: number },
): Promise<Out> {
  return call.bytes <= call.bytesHere ? sized.here(input) : pool.run(sized.apart, input, call);
}
