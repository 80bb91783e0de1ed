// Original file: catalog.proto

import type { Long } from '@grpc/proto-loader';

export interface LeaseInput {
  readonly renewal?: (number);
  readonly changes?: (number | string | Long);
  readonly valid_ms?: (number);
  readonly answer_ms?: (number);
}

export interface Lease {
  readonly renewal: (number);
  readonly changes: (string);
  readonly valid_ms: (number);
  readonly answer_ms: (number);
}
