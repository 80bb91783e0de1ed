// Original file: catalog.proto

import type { PrincipalInput as _skein_catalog_v1_PrincipalInput, Principal as _skein_catalog_v1_Principal } from '../../../skein/catalog/v1/Principal.ts';

export interface ListTablesRequestInput {
  readonly catalog?: (string);
  readonly namespace?: readonly (string)[];
  readonly limit?: (number);
  readonly after?: (string);
  readonly principal?: (_skein_catalog_v1_PrincipalInput | null);
  readonly with_views?: (boolean);
}

export interface ListTablesRequest {
  readonly catalog: (string);
  readonly namespace: readonly (string)[];
  readonly limit: (number);
  readonly after: (string);
  readonly principal: (_skein_catalog_v1_Principal | null);
  readonly with_views: (boolean);
}
