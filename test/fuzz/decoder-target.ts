import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { DecodeJob, DecodeResult } from './decode-thread.ts';
import { drawInput, type Decoder } from './decoder.ts';
import type { FuzzTarget } from './fuzz-target.ts';

/** An input that takes this long by the clock, even on a busy machine, counts as endless. */
const HANG_MS = 30_000;
const WATCH_MS = 250;
/** Value of `progress` before the first input. */
const STARTING = -1;
const HEAP_MIB_MAX = 512;

/** The fuzz target of a decoder, which runs in a thread of its own, because an input may hang or kill it. */
export function decoderTarget(decoder: Decoder): FuzzTarget {
  const { name } = decoder;
  const folder = join(import.meta.dirname, 'found', name);
  return {
    name,
    what: 'every input is decoded or has a named error, soon and in little memory',
    replay: async () => {
      const inputs = foundFiles(folder).map((file) => readFileSync(join(folder, file)));
      if (inputs.length === 0) return undefined;
      return (await runInThread({ decoder: name, inputs })).why;
    },
    fuzz: async ({ seed, forMs }) => {
      const { runs, why, input } = await runInThread({ decoder: name, inputs: { seed, forMs } });
      if (why === undefined) return { runs };
      const file = keep(folder, input ?? drawInput(decoder, seed, runs));
      return { runs, failure: `${why}\nkept as ${file}` };
    },
  };
}

const foundFiles = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
};

function keep(folder: string, input: Uint8Array): string {
  const file = join(folder, `${createHash('sha256').update(input).digest('hex').slice(0, 12)}.bin`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, input);
  return file;
}

/** Runs a job in a thread of limited heap; without `input` in the answer the thread has hung or died at number `runs`. */
async function runInThread(job: Omit<DecodeJob, 'progress'>): Promise<DecodeResult> {
  const progress = new Int32Array(new SharedArrayBuffer(4)).fill(STARTING);
  const thread = new Worker(new URL('./decode-thread.ts', import.meta.url), {
    workerData: { ...job, progress } satisfies DecodeJob,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB_MAX },
  });
  const { promise, resolve } = Promise.withResolvers<DecodeResult>();
  const stop = (why: string): void => resolve({ runs: Atomics.load(progress, 0), why });
  thread.on('message', resolve);
  thread.on('error', (error: unknown) => stop(`the thread ended: ${String(error)}`));
  const watch = watchProgress(progress, () => stop(`does not end within ${HANG_MS} ms`));
  try {
    return await promise;
  } finally {
    clearInterval(watch);
    await thread.terminate();
  }
}

function watchProgress(progress: Int32Array, onHang: () => void): NodeJS.Timeout {
  let at = STARTING;
  let since = performance.now();
  return setInterval(() => {
    const now = Atomics.load(progress, 0);
    if (now !== at || now === STARTING) [at, since] = [now, performance.now()];
    else if (performance.now() - since > HANG_MS) onHang();
  }, WATCH_MS);
}
