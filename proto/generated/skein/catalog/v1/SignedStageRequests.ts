// Original file: catalog.proto

import type { SignedStageRequestInput as _skein_catalog_v1_SignedStageRequestInput, SignedStageRequest as _skein_catalog_v1_SignedStageRequest } from '../../../skein/catalog/v1/SignedStageRequest.ts';

export interface SignedStageRequestsInput {
  readonly requests?: readonly (_skein_catalog_v1_SignedStageRequestInput)[];
}

export interface SignedStageRequests {
  readonly requests: readonly (_skein_catalog_v1_SignedStageRequest)[];
}
