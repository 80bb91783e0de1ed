// Original file: catalog.proto

import type { RelationPolicyInput as _skein_catalog_v1_RelationPolicyInput, RelationPolicy as _skein_catalog_v1_RelationPolicy } from '../../../skein/catalog/v1/RelationPolicy.ts';

export interface RelationInput {
  readonly id?: (string);
  readonly version?: (string);
  readonly namespace?: readonly (string)[];
  readonly name?: (string);
  readonly kind?: (string);
  readonly summary?: (string);
  readonly storage_summary?: (string);
  readonly columns?: (string);
  readonly policies?: readonly (_skein_catalog_v1_RelationPolicyInput)[];
  readonly oid?: (number);
  readonly namespace_oid?: (number);
}

export interface Relation {
  readonly id: (string);
  readonly version: (string);
  readonly namespace: readonly (string)[];
  readonly name: (string);
  readonly kind: (string);
  readonly summary: (string);
  readonly storage_summary: (string);
  readonly columns: (string);
  readonly policies: readonly (_skein_catalog_v1_RelationPolicy)[];
  readonly oid: (number);
  readonly namespace_oid: (number);
}
