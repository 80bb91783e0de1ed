import { totalmem } from 'node:os';
import { constrainedMemory } from 'node:process';

/** Memory that this process may use: the machine's, or its container's when that is less. */
export const machineMemory = (): number => {
  const constrained = constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
};
