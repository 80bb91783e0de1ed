import { workerData } from 'piscina';
import { limitsApart } from '#shared/iceberg/decode-limits.ts';
import { localFileIo } from '#shared/storage/local-file-io.ts';
import { inThread, type WorkSettings } from '#shared/thread/work.ts';
import { readPaths, readReached, type PackedPaths, type PathsInput, type Reached } from './read-paths.ts';

/** The program of the threads that read what a large dropped table consists of. */
const settings = workerData as WorkSettings;

export const pathsInThread = inThread<PathsInput, PackedPaths>(
  (input) => readPaths(localFileIo, input, limitsApart(settings.fileBytes)),
  (paths) => [paths],
);

export const reachedInThread = inThread<string, Reached>(readReached);
