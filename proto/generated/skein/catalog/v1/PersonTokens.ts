// Original file: catalog.proto

import type { Long } from '@grpc/proto-loader';

export interface PersonTokensInput {
  readonly token?: (string);
  readonly expires_at_ms?: (number | string | Long);
  readonly refresh_token?: (string);
  readonly ends_at_ms?: (number | string | Long);
}

export interface PersonTokens {
  readonly token: (string);
  readonly expires_at_ms: (string);
  readonly refresh_token: (string);
  readonly ends_at_ms: (string);
}
