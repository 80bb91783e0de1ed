// Original file: catalog.proto

import type { BucketKeyInput as _skein_catalog_v1_BucketKeyInput, BucketKey as _skein_catalog_v1_BucketKey } from '../../../skein/catalog/v1/BucketKey.ts';

export interface VendKeyReplyInput {
  readonly key?: (_skein_catalog_v1_BucketKeyInput | null);
  readonly file_roots?: readonly (string)[];
}

export interface VendKeyReply {
  readonly key: (_skein_catalog_v1_BucketKey | null);
  readonly file_roots: readonly (string)[];
}
