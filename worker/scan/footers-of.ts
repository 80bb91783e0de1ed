import type { ScanSpec } from '#shared/task/task.ts';
import type { TenantId } from '#shared/id.ts';
import type { FooterCache } from './footer-cache.ts';
import type { ReadFooter } from './footer.ts';
import { openScanned } from './readable-path.ts';

/** Reads the footers of the scans of a tenant's task. */
export const footersOf =
  (footers: FooterCache, signal: AbortSignal, tenant: TenantId) =>
  (scan: ScanSpec, open = openScanned(scan)): ReadFooter =>
    footers.of(signal, { tenant, tableUuid: scan.tableUuid, open });
