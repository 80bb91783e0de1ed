import { totalmem } from 'node:os';
import { constrainedMemory } from 'node:process';

/** Returns the memory that this process may use, in bytes: the machine's, or its container's when that is less. */
export const machineMemory = (): number => {
  const constrained = constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
};

/** Minimum memory of a useful worker. A default is never below it, so that the default of a small machine is not refused. */
export const WORKER_MEMORY_MIN = 64 * 2 ** 20;
