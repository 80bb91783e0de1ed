// Original file: catalog.proto

import type { Long } from '@grpc/proto-loader';

export interface MintTokenReplyInput {
  readonly token?: (string);
  readonly expires_at_ms?: (number | string | Long);
}

export interface MintTokenReply {
  readonly token: (string);
  readonly expires_at_ms: (string);
}
