// Original file: catalog.proto

import type { Long } from '@grpc/proto-loader';

export interface RotateClientRequestInput {
  readonly tenant?: (string);
  readonly name?: (string);
  readonly overlap_ms?: (number | string | Long);
}

export interface RotateClientRequest {
  readonly tenant: (string);
  readonly name: (string);
  readonly overlap_ms: (string);
}
