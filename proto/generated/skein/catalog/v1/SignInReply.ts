// Original file: catalog.proto

import type { Long } from '@grpc/proto-loader';

export interface SignInReplyInput {
  readonly token?: (string);
  readonly expires_at_ms?: (number | string | Long);
}

export interface SignInReply {
  readonly token: (string);
  readonly expires_at_ms: (string);
}
