import { workerData } from 'piscina';
import { limitsApart } from '#shared/iceberg/decode-limits.ts';
import { inThread, type WorkSettings } from '#shared/thread/work.ts';
import { ownStorage } from '../storage/own-storage.ts';
import { readPaths, readReached, type PackedPaths, type PathsInput, type Reached } from './read-paths.ts';

/** Entry point of the worker threads that list the files of a large dropped table. */
const settings = workerData as WorkSettings;

export const pathsInThread = inThread<PathsInput, PackedPaths>(
  (input) => readPaths(ownStorage(input.location), input, limitsApart(settings.fileBytes)),
  (paths) => [paths],
);

export const reachedInThread = inThread<string, Reached>(readReached);
