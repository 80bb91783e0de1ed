// Original file: catalog.proto

import type { NamespaceInput as _skein_catalog_v1_NamespaceInput, Namespace as _skein_catalog_v1_Namespace } from '../../../skein/catalog/v1/Namespace.ts';

export interface NamespaceListInput {
  readonly namespaces?: readonly (_skein_catalog_v1_NamespaceInput)[];
  readonly more?: (boolean);
}

export interface NamespaceList {
  readonly namespaces: readonly (_skein_catalog_v1_Namespace)[];
  readonly more: (boolean);
}
