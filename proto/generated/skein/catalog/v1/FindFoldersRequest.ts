// Original file: catalog.proto

import type { PrincipalInput as _skein_catalog_v1_PrincipalInput, Principal as _skein_catalog_v1_Principal } from '../../../skein/catalog/v1/Principal.ts';

export interface FindFoldersRequestInput {
  readonly principal?: (_skein_catalog_v1_PrincipalInput | null);
  readonly version?: (string);
}

export interface FindFoldersRequest {
  readonly principal: (_skein_catalog_v1_Principal | null);
  readonly version: (string);
}
