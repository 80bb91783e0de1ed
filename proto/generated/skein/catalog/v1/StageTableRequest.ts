// Original file: catalog.proto

import type { PrincipalInput as _skein_catalog_v1_PrincipalInput, Principal as _skein_catalog_v1_Principal } from '../../../skein/catalog/v1/Principal.ts';

export interface StageTableRequestInput {
  readonly principal?: (_skein_catalog_v1_PrincipalInput | null);
  readonly transaction?: (Buffer | Uint8Array | string);
  readonly base_version?: (string);
}

export interface StageTableRequest {
  readonly principal: (_skein_catalog_v1_Principal | null);
  readonly transaction: (Buffer);
  readonly base_version: (string);
}
