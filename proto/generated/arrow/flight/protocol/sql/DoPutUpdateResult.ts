// Original file: flight-sql.proto

import type { Long } from '@grpc/proto-loader';

export interface DoPutUpdateResultInput {
  readonly record_count?: (number | string | Long);
}

export interface DoPutUpdateResult {
  readonly record_count: (string);
}
