// Original file: catalog.proto

import type { PrincipalInput as _skein_catalog_v1_PrincipalInput, Principal as _skein_catalog_v1_Principal } from '../../../skein/catalog/v1/Principal.ts';

export interface ListDroppedRequestInput {
  readonly principal?: (_skein_catalog_v1_PrincipalInput | null);
  readonly catalog?: (string);
  readonly after?: (string);
  readonly limit?: (number);
}

export interface ListDroppedRequest {
  readonly principal: (_skein_catalog_v1_Principal | null);
  readonly catalog: (string);
  readonly after: (string);
  readonly limit: (number);
}
