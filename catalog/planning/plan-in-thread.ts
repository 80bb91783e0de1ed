import { workerData } from 'piscina';
import type { StorageCredential } from '#shared/storage/credential.ts';
import { limitsApart } from '#shared/iceberg/decode-limits.ts';
import { LruManifestCache } from '#shared/iceberg/manifest-cache.ts';
import { inThread, type WorkSettings } from '#shared/thread/work.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import type { PlannedScan } from '../metadata/plan-request.ts';
import { planPortions, resolveText, type Portions, type PortionsInput, type ResolveInput } from './plan-portions.ts';

/** Entry point of the worker threads that plan scans of large tables. */
const settings = workerData as WorkSettings;
const manifestCaches = new LruManifestCache(settings.cacheBytes);

export const resolveInThread = inThread<ResolveInput, PlannedScan>(resolveText);

export const portionsInThread = inThread<PortionsInput & { readonly credential: StorageCredential }, Portions>(
  (input) =>
    planPortions(
      {
        io: openStorage(input.location, input.credential),
        manifestCaches,
        limits: limitsApart(settings.fileBytes),
        largeManifests: 'read',
      },
      input,
    ),
  ({ texts }) => texts,
);
