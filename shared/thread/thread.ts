import { setPriority } from 'node:os';
import { returnMemoryWhenIdle } from './idle-memory.ts';
import type { WorkAnswer } from './work.ts';

/** The program of a pool thread: it loads the modules of the work that it is given. */

/** Priority of a service's threads, below that of its main thread, which serves all requests. */
const NICENESS = 5;

// On Linux a priority applies to the calling thread, elsewhere to the process.
if (process.platform === 'linux') setPriority(0, NICENESS);

returnMemoryWhenIdle();

export type ThreadJob = {
  /** URL of the module, and the name under which it exports the function. */
  readonly module: string;
  readonly name: string;
  readonly input: unknown;
};

/** Loads a function made by `inThread` and calls it. */
export async function runWork({ module, name, input }: ThreadJob): Promise<WorkAnswer<unknown>> {
  const functions = (await import(module)) as Record<string, (given: unknown) => Promise<WorkAnswer<unknown>>>;
  const run = functions[name];
  if (run === undefined) throw new Error(`invariant: ${module} exports ${name}`);
  return run(input);
}
