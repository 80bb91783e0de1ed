// Original file: null

import type { Long } from '@grpc/proto-loader';

export interface TimestampInput {
  readonly seconds?: (number | string | Long);
  readonly nanos?: (number);
}

export interface Timestamp {
  readonly seconds: (string);
  readonly nanos: (number);
}
