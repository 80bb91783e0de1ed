import { parentPort, workerData } from 'node:worker_threads';
import { must } from '#shared/must.ts';
import { checkInput, shrink } from './check-input.ts';
import { drawInput } from './decoder.ts';
import { DECODERS } from './decoders.ts';

/** Inputs that a thread checks: given ones, or those that a seed yields in some time. */
export type DecodeJob = {
  readonly decoder: string;
  readonly inputs: readonly Uint8Array[] | { readonly seed: number; readonly forMs: number };
  /** One number: the index of the current input. */
  readonly progress: Int32Array<SharedArrayBuffer>;
};

export type DecodeResult = { readonly runs: number; readonly why?: string; readonly input?: Uint8Array };

const { decoder: name, inputs, progress } = workerData as DecodeJob;
const decoder = must(
  DECODERS.find((one) => one.name === name),
  'a job names a decoder',
);

async function run(): Promise<DecodeResult> {
  for (const sample of decoder.samples) await decoder.decode(sample);
  const startedAt = performance.now();
  for (let index = 0; ; index++) {
    const given = 'seed' in inputs ? undefined : inputs[index];
    if (given === undefined && !('seed' in inputs && performance.now() - startedAt < inputs.forMs))
      return { runs: index };
    Atomics.store(progress, 0, index);
    const input =
      given === undefined && 'seed' in inputs ? drawInput(decoder, inputs.seed, index) : Buffer.from(given ?? []);
    const why = await checkInput(decoder, input);
    if (why !== undefined) return { runs: index, why, input: await shrink(decoder, input, why) };
  }
}

parentPort?.postMessage(await run(), []);
