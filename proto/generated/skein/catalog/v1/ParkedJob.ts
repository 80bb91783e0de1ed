// Original file: catalog.proto

import type { Long } from '@grpc/proto-loader';

export interface ParkedJobInput {
  readonly id?: (string);
  readonly kind?: (string);
  readonly tenant?: (string);
  readonly object?: (string);
  readonly parked_at_ms?: (number | string | Long);
  readonly reason?: (string);
}

export interface ParkedJob {
  readonly id: (string);
  readonly kind: (string);
  readonly tenant: (string);
  readonly object: (string);
  readonly parked_at_ms: (string);
  readonly reason: (string);
}
