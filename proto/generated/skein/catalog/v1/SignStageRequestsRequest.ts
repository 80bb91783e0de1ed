// Original file: catalog.proto

import type { PrincipalInput as _skein_catalog_v1_PrincipalInput, Principal as _skein_catalog_v1_Principal } from '../../../skein/catalog/v1/Principal.ts';
import type { StageRequestInput as _skein_catalog_v1_StageRequestInput, StageRequest as _skein_catalog_v1_StageRequest } from '../../../skein/catalog/v1/StageRequest.ts';
import type { Long } from '@grpc/proto-loader';

export interface SignStageRequestsRequestInput {
  readonly principal?: (_skein_catalog_v1_PrincipalInput | null);
  readonly action?: (string);
  readonly stage_id?: (string);
  readonly requests?: readonly (_skein_catalog_v1_StageRequestInput)[];
  readonly expires_at_ms?: (number | string | Long);
}

export interface SignStageRequestsRequest {
  readonly principal: (_skein_catalog_v1_Principal | null);
  readonly action: (string);
  readonly stage_id: (string);
  readonly requests: readonly (_skein_catalog_v1_StageRequest)[];
  readonly expires_at_ms: (string);
}
