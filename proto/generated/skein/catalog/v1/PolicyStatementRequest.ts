// Original file: catalog.proto

import type { PrincipalInput as _skein_catalog_v1_PrincipalInput, Principal as _skein_catalog_v1_Principal } from '../../../skein/catalog/v1/Principal.ts';
import type { Long } from '@grpc/proto-loader';

export interface PolicyStatementRequestInput {
  readonly principal?: (_skein_catalog_v1_PrincipalInput | null);
  readonly statement?: (Buffer | Uint8Array | string);
  readonly term?: (number | string | Long);
}

export interface PolicyStatementRequest {
  readonly principal: (_skein_catalog_v1_Principal | null);
  readonly statement: (Buffer);
  readonly term: (string);
}
