// Original file: catalog.proto

import type { PrincipalInput as _skein_catalog_v1_PrincipalInput, Principal as _skein_catalog_v1_Principal } from '../../../skein/catalog/v1/Principal.ts';
import type { Long } from '@grpc/proto-loader';

export interface BeginUploadRequestInput {
  readonly principal?: (_skein_catalog_v1_PrincipalInput | null);
  readonly stage_id?: (string);
  readonly upload_id?: (string);
  readonly path?: (string);
  readonly part_bytes?: (number | string | Long);
  readonly size_bytes?: (number | string | Long);
  readonly at_store?: (boolean);
}

export interface BeginUploadRequest {
  readonly principal: (_skein_catalog_v1_Principal | null);
  readonly stage_id: (string);
  readonly upload_id: (string);
  readonly path: (string);
  readonly part_bytes: (string);
  readonly size_bytes: (string);
  readonly at_store: (boolean);
}
