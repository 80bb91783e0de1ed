// Original file: catalog.proto

import type { CatalogCheckInput as _skein_catalog_v1_CatalogCheckInput, CatalogCheck as _skein_catalog_v1_CatalogCheck } from '../../../skein/catalog/v1/CatalogCheck.ts';

export interface CheckCatalogReplyInput {
  readonly checks?: readonly (_skein_catalog_v1_CatalogCheckInput)[];
}

export interface CheckCatalogReply {
  readonly checks: readonly (_skein_catalog_v1_CatalogCheck)[];
}
