// Original file: catalog.proto

import type { PrincipalInput as _skein_catalog_v1_PrincipalInput, Principal as _skein_catalog_v1_Principal } from '../../../skein/catalog/v1/Principal.ts';

export interface FindUploadRequestInput {
  readonly principal?: (_skein_catalog_v1_PrincipalInput | null);
  readonly upload_id?: (string);
}

export interface FindUploadRequest {
  readonly principal: (_skein_catalog_v1_Principal | null);
  readonly upload_id: (string);
}
