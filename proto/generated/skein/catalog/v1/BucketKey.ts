// Original file: catalog.proto

import type { GcsKeyInput as _skein_catalog_v1_GcsKeyInput, GcsKey as _skein_catalog_v1_GcsKey } from '../../../skein/catalog/v1/GcsKey.ts';
import type { AdlsKeyInput as _skein_catalog_v1_AdlsKeyInput, AdlsKey as _skein_catalog_v1_AdlsKey } from '../../../skein/catalog/v1/AdlsKey.ts';
import type { Long } from '@grpc/proto-loader';

export interface BucketKeyInput {
  readonly access_key_id?: (string);
  readonly secret_access_key?: (string);
  readonly session_token?: (string);
  readonly expires_at_ms?: (number | string | Long);
  readonly region?: (string);
  readonly endpoint?: (string);
  readonly path_style?: (boolean);
  readonly folders?: readonly (string)[];
  readonly writes?: (boolean);
  readonly gcs?: (_skein_catalog_v1_GcsKeyInput | null);
  readonly adls?: (_skein_catalog_v1_AdlsKeyInput | null);
}

export interface BucketKey {
  readonly access_key_id: (string);
  readonly secret_access_key: (string);
  readonly session_token: (string);
  readonly expires_at_ms: (string);
  readonly region: (string);
  readonly endpoint: (string);
  readonly path_style: (boolean);
  readonly folders: readonly (string)[];
  readonly writes: (boolean);
  readonly gcs: (_skein_catalog_v1_GcsKey | null);
  readonly adls: (_skein_catalog_v1_AdlsKey | null);
}
