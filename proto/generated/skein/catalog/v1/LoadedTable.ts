// Original file: catalog.proto

import type { PolicyInput as _skein_catalog_v1_PolicyInput, Policy as _skein_catalog_v1_Policy } from '../../../skein/catalog/v1/Policy.ts';
import type { BucketKeyInput as _skein_catalog_v1_BucketKeyInput, BucketKey as _skein_catalog_v1_BucketKey } from '../../../skein/catalog/v1/BucketKey.ts';

export interface LoadedTableInput {
  readonly status?: (string);
  readonly metadata_location?: (string);
  readonly metadata_json?: (string);
  readonly allowed_roots?: readonly (string)[];
  readonly namespace?: readonly (string)[];
  readonly table?: (string);
  readonly version?: (string);
  readonly actions?: readonly (string)[];
  readonly policies?: readonly (_skein_catalog_v1_PolicyInput)[];
  readonly policy_version?: (string);
  readonly key?: (_skein_catalog_v1_BucketKeyInput | null);
  readonly denied_roots?: readonly (string)[];
  readonly oid?: (number);
}

export interface LoadedTable {
  readonly status: (string);
  readonly metadata_location: (string);
  readonly metadata_json: (string);
  readonly allowed_roots: readonly (string)[];
  readonly namespace: readonly (string)[];
  readonly table: (string);
  readonly version: (string);
  readonly actions: readonly (string)[];
  readonly policies: readonly (_skein_catalog_v1_Policy)[];
  readonly policy_version: (string);
  readonly key: (_skein_catalog_v1_BucketKey | null);
  readonly denied_roots: readonly (string)[];
  readonly oid: (number);
}
