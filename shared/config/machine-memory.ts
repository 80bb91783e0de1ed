import { totalmem } from 'node:os';
import { constrainedMemory } from 'node:process';

/** Memory that this process may use: the machine's, or its container's when that is less. */
export const machineMemory = (): number => {
  const constrained = constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
};

/** Least memory with which a worker is of use: a default is never less, so that a small machine does not refuse its own. */
export const WORKER_MEMORY_MIN = 64 * 2 ** 20;
