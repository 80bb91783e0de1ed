// Original file: catalog.proto

import type { DescribedCatalogInput as _skein_catalog_v1_DescribedCatalogInput, DescribedCatalog as _skein_catalog_v1_DescribedCatalog } from '../../../skein/catalog/v1/DescribedCatalog.ts';

export interface CatalogListInput {
  readonly catalogs?: readonly (_skein_catalog_v1_DescribedCatalogInput)[];
}

export interface CatalogList {
  readonly catalogs: readonly (_skein_catalog_v1_DescribedCatalog)[];
}
