// Original file: catalog.proto

import type { Long } from '@grpc/proto-loader';

export interface StageRequestInput {
  readonly path?: (string);
  readonly size_bytes?: (number | string | Long);
  readonly upload_id?: (string);
  readonly part_number?: (number);
}

export interface StageRequest {
  readonly path: (string);
  readonly size_bytes: (string);
  readonly upload_id: (string);
  readonly part_number: (number);
}
