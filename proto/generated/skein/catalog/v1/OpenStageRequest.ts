// Original file: catalog.proto

import type { PrincipalInput as _skein_catalog_v1_PrincipalInput, Principal as _skein_catalog_v1_Principal } from '../../../skein/catalog/v1/Principal.ts';

export interface OpenStageRequestInput {
  readonly principal?: (_skein_catalog_v1_PrincipalInput | null);
  readonly action?: (string);
  readonly catalog?: (string);
  readonly namespace?: readonly (string)[];
  readonly name?: (string);
  readonly id?: (string);
}

export interface OpenStageRequest {
  readonly principal: (_skein_catalog_v1_Principal | null);
  readonly action: (string);
  readonly catalog: (string);
  readonly namespace: readonly (string)[];
  readonly name: (string);
  readonly id: (string);
}
