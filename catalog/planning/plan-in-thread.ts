import { workerData } from 'piscina';
import { limitsApart } from '#shared/iceberg/decode-limits.ts';
import { LruManifestCache } from '#shared/iceberg/manifest-cache.ts';
import { localFileIo } from '#shared/storage/local-file-io.ts';
import { inThread, type WorkSettings } from '#shared/thread/work.ts';
import type { PlannedScan } from './plan-request.ts';
import { planPortions, resolveText, type Portions, type PortionsInput, type ResolveInput } from './plan-portions.ts';

/** The program of the threads that plan scans of large tables. */
const settings = workerData as WorkSettings;
const manifestCache = new LruManifestCache(settings.cacheBytes);

export const resolveInThread = inThread<ResolveInput, PlannedScan>(resolveText);

export const portionsInThread = inThread<PortionsInput, Portions>(
  (input) =>
    planPortions(
      { io: localFileIo, manifestCache, limits: limitsApart(settings.fileBytes), largeManifests: 'read' },
      input,
    ),
  ({ texts }) => texts,
);
