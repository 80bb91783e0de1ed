import type { BucketSettingsInput } from '#proto/generated/skein/catalog/v1/BucketSettings.ts';
import type { Config } from '#shared/config/config-schema.ts';
import { normalizeLocation } from '#shared/storage/location.ts';
import { callCatalog } from '../catalog-rpc.ts';
import { operatorSecurity } from '../operator-security.ts';

/** Makes the first catalog in its bucket, unless an earlier start did. The keys are sent on, and are not kept here. */
export async function makeFirstCatalog(config: Config, bucket: BucketSettingsInput): Promise<void> {
  using security = operatorSecurity(config);
  const target = { internalUrl: config['catalog.internal_url'].join(','), security };
  const [tenant, name] = [config['bootstrap.tenant'], config['bootstrap.catalog']];
  const { catalogs } = await callCatalog(target, 'DescribeCatalogs', { tenant });
  const place = normalizeLocation(config['bootstrap.warehouse']);
  // It may have another name by now.
  if (catalogs.some((catalog) => catalog.name === name || catalog.roots[0] === place)) return;
  await callCatalog(target, 'CreateCatalog', {
    tenant,
    name,
    location: config['bootstrap.warehouse'],
    undrop_window_ms: '0',
    bucket,
    first_namespace: config['bootstrap.namespace'],
  });
}
