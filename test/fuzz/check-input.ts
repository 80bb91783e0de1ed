import { SkeinError } from '#shared/error.ts';
import type { Decoder } from './decoder.ts';

/** Maximum CPU time of the thread for one input; the best of a few runs counts. */
const CPU_MS_MAX = 1_000;
const RUNS = 3;
const MEMORY_BYTES_MAX = 256 * 2 ** 20;
const STACK_LINES = 4;
const SHRINK_RUNS_MAX = 300;

/**
 * Returns how an input breaks its decoder's law; undefined when it does not. The law: decoding ends soon, takes little memory, and refuses
 * a bad input with one of the decoder's errors.
 */
export async function checkInput(decoder: Decoder, input: Buffer): Promise<string | undefined> {
  let leastMs = Infinity;
  for (let run = 0; run < RUNS && leastMs > CPU_MS_MAX; run++) {
    const memory = process.memoryUsage.rss();
    const before = process.threadCpuUsage();
    const error = await errorOf(decoder, input);
    const { user, system } = process.threadCpuUsage(before);
    if (error !== undefined) return error;
    if (process.memoryUsage.rss() - memory > MEMORY_BYTES_MAX) return `takes more than ${MEMORY_BYTES_MAX} bytes`;
    leastMs = Math.min(leastMs, (user + system) / 1_000);
  }
  return leastMs > CPU_MS_MAX ? `takes more than ${CPU_MS_MAX} ms` : undefined;
}

async function errorOf({ decode, errors }: Decoder, input: Buffer): Promise<string | undefined> {
  try {
    await decode(input);
    return undefined;
  } catch (error) {
    if (error instanceof SkeinError && errors.includes(error.code)) return undefined;
    const stack = error instanceof Error ? error.stack : undefined;
    return (stack ?? String(error)).split('\n').slice(0, STACK_LINES).join('\n');
  }
}

/** Returns a shorter input that breaks the law in the same way. */
export async function shrink(decoder: Decoder, input: Buffer, why: string): Promise<Buffer> {
  let least = input;
  let runs = 0;
  for (let size = input.length >> 1; size > 0; size >>= 1) {
    for (let at = 0; at < least.length && runs < SHRINK_RUNS_MAX; runs++) {
      const shorter = Buffer.concat([least.subarray(0, at), least.subarray(at + size)]);
      if ((await checkInput(decoder, shorter)) === why) least = shorter;
      else at += size;
    }
  }
  return least;
}
