import type { TestProject } from 'vitest/node';
import type { OverBucket } from './run-bucket.ts';

/**
 * The suites of this project keep their tables in a bucket: `startOwnCluster` and `sharedCluster` make such clusters there.
 * `TEST_BUCKET_CACHE=8MiB` limits what their workers keep of it; `TEST_BUCKET_STORE=gcs` or `adls` takes an emulator of that store, not MinIO.
 */
export function setup(project: TestProject): void {
  project.provide('overBucket', {
    diskCacheSize: process.env['TEST_BUCKET_CACHE'] ?? '',
    store: process.env['TEST_BUCKET_STORE'] ?? '',
  });
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Undefined where tables lie in local files. */
    overBucket: OverBucket | undefined;
  }
}
