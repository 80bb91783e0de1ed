// Original file: catalog.proto

import type { Long } from '@grpc/proto-loader';

export interface StageRequestInput {
  readonly path?: (string);
  readonly size_bytes?: (number | string | Long);
}

export interface StageRequest {
  readonly path: (string);
  readonly size_bytes: (string);
}
