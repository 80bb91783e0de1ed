// Original file: catalog.proto

import type { BucketSettingsInput as _skein_catalog_v1_BucketSettingsInput, BucketSettings as _skein_catalog_v1_BucketSettings } from '../../../skein/catalog/v1/BucketSettings.ts';
import type { Long } from '@grpc/proto-loader';

export interface CreateCatalogRequestInput {
  readonly tenant?: (string);
  readonly name?: (string);
  readonly location?: (string);
  readonly allow_roots?: readonly (string)[];
  readonly undrop_window_ms?: (number | string | Long);
  readonly bucket?: (_skein_catalog_v1_BucketSettingsInput | null);
  readonly first_namespace?: (string);
}

export interface CreateCatalogRequest {
  readonly tenant: (string);
  readonly name: (string);
  readonly location: (string);
  readonly allow_roots: readonly (string)[];
  readonly undrop_window_ms: (string);
  readonly bucket: (_skein_catalog_v1_BucketSettings | null);
  readonly first_namespace: (string);
}
