// Original file: catalog.proto

import type { Long } from '@grpc/proto-loader';

export interface EndedSignInInput {
  readonly id?: (string);
  readonly until_ms?: (number | string | Long);
}

export interface EndedSignIn {
  readonly id: (string);
  readonly until_ms: (string);
}
