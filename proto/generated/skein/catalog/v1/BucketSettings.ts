// Original file: catalog.proto

import type { AccessKeyInput as _skein_catalog_v1_AccessKeyInput, AccessKey as _skein_catalog_v1_AccessKey } from '../../../skein/catalog/v1/AccessKey.ts';

export interface BucketSettingsInput {
  readonly settings?: ({[key: string]: string});
  readonly key?: (_skein_catalog_v1_AccessKeyInput | null);
  readonly engine_key?: (_skein_catalog_v1_AccessKeyInput | null);
}

export interface BucketSettings {
  readonly settings: ({[key: string]: string});
  readonly key: (_skein_catalog_v1_AccessKey | null);
  readonly engine_key: (_skein_catalog_v1_AccessKey | null);
}
