// Original file: catalog.proto

import type { Long } from '@grpc/proto-loader';

export interface MintTokenRequestInput {
  readonly tenant?: (string);
  readonly user?: (string);
  readonly ttl_ms?: (number | string | Long);
  readonly scope?: readonly (string)[];
}

export interface MintTokenRequest {
  readonly tenant: (string);
  readonly user: (string);
  readonly ttl_ms: (string);
  readonly scope: readonly (string)[];
}
