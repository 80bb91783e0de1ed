// Original file: catalog.proto

import type { BucketKeyInput as _skein_catalog_v1_BucketKeyInput, BucketKey as _skein_catalog_v1_BucketKey } from '../../../skein/catalog/v1/BucketKey.ts';
import type { Long } from '@grpc/proto-loader';

export interface StageInput {
  readonly id?: (string);
  readonly catalog?: (string);
  readonly namespace?: readonly (string)[];
  readonly name?: (string);
  readonly location?: (string);
  readonly properties?: ({[key: string]: string});
  readonly created_at_ms?: (number | string | Long);
  readonly key?: (_skein_catalog_v1_BucketKeyInput | null);
  readonly client_endpoint?: (string);
  readonly signs?: (boolean);
}

export interface Stage {
  readonly id: (string);
  readonly catalog: (string);
  readonly namespace: readonly (string)[];
  readonly name: (string);
  readonly location: (string);
  readonly properties: ({[key: string]: string});
  readonly created_at_ms: (string);
  readonly key: (_skein_catalog_v1_BucketKey | null);
  readonly client_endpoint: (string);
  readonly signs: (boolean);
}
