// Original file: catalog.proto

import type { BucketSettingsInput as _skein_catalog_v1_BucketSettingsInput, BucketSettings as _skein_catalog_v1_BucketSettings } from '../../../skein/catalog/v1/BucketSettings.ts';
import type { Long } from '@grpc/proto-loader';

export interface AlterCatalogRequestInput {
  readonly name?: (string);
  readonly allow_roots?: readonly (string)[];
  readonly disallow_roots?: readonly (string)[];
  readonly undrop_window_ms?: (number | string | Long);
  readonly bucket?: (_skein_catalog_v1_BucketSettingsInput | null);
}

export interface AlterCatalogRequest {
  readonly name: (string);
  readonly allow_roots: readonly (string)[];
  readonly disallow_roots: readonly (string)[];
  readonly undrop_window_ms: (string);
  readonly bucket: (_skein_catalog_v1_BucketSettings | null);
}
