// Original file: catalog.proto

import type { RelationInput as _skein_catalog_v1_RelationInput, Relation as _skein_catalog_v1_Relation } from '../../../skein/catalog/v1/Relation.ts';

export interface RelationListInput {
  readonly relations?: readonly (_skein_catalog_v1_RelationInput)[];
  readonly more?: (boolean);
  readonly last?: (string);
}

export interface RelationList {
  readonly relations: readonly (_skein_catalog_v1_Relation)[];
  readonly more: (boolean);
  readonly last: (string);
}
