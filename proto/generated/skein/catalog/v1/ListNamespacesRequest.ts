// Original file: catalog.proto

import type { PrincipalInput as _skein_catalog_v1_PrincipalInput, Principal as _skein_catalog_v1_Principal } from '../../../skein/catalog/v1/Principal.ts';

export interface ListNamespacesRequestInput {
  readonly catalog?: (string);
  readonly after?: readonly (string)[];
  readonly limit?: (number);
  readonly principal?: (_skein_catalog_v1_PrincipalInput | null);
  readonly action?: (string);
  readonly name?: (string);
}

export interface ListNamespacesRequest {
  readonly catalog: (string);
  readonly after: readonly (string)[];
  readonly limit: (number);
  readonly principal: (_skein_catalog_v1_Principal | null);
  readonly action: (string);
  readonly name: (string);
}
