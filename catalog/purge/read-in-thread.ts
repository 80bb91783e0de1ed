import { workerData } from 'piscina';
import type { StorageCredential } from '#shared/storage/credential.ts';
import { limitsApart } from '#shared/iceberg/decode-limits.ts';
import { inThread, type WorkSettings } from '#shared/thread/work.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { readPaths, readReached, type PackedPaths, type PathsInput, type Reached } from './read-paths.ts';

/** Entry point of the worker threads that list the files of a large dropped table. */
const settings = workerData as WorkSettings;

export const pathsInThread = inThread<PathsInput & { readonly credential: StorageCredential }, PackedPaths>(
  ({ credential, ...input }) =>
    readPaths(openStorage(input.location, credential), input, limitsApart(settings.fileBytes)),
  (paths) => [paths],
);

export const reachedInThread = inThread<string, Reached>(readReached);
