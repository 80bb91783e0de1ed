// Original file: catalog.proto

import type { Long } from '@grpc/proto-loader';

export interface SignedStageRequestInput {
  readonly url?: (string);
  readonly headers?: ({[key: string]: string});
  readonly expires_at_ms?: (number | string | Long);
}

export interface SignedStageRequest {
  readonly url: (string);
  readonly headers: ({[key: string]: string});
  readonly expires_at_ms: (string);
}
