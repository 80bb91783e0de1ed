// Original file: catalog.proto

import type { Long } from '@grpc/proto-loader';

export interface LeaseRequestInput {
  readonly renewal?: (number);
  readonly changes?: (number | string | Long);
  readonly given_back?: (boolean);
}

export interface LeaseRequest {
  readonly renewal: (number);
  readonly changes: (string);
  readonly given_back: (boolean);
}
