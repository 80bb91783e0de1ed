import type { StageRun } from './stage-run.ts';

/** Whether tasks of these stages read what others gave: they run on workers that reach each other. */
export const readEachOther = (stages: Iterable<StageRun>): boolean =>
  [...stages].some(({ read, result, sink }) => read.length > 0 || (result === null && sink === null));
