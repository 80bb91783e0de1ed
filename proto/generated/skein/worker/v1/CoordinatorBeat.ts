// Original file: worker.proto

import type { Long } from '@grpc/proto-loader';

export interface CoordinatorBeatInput {
  readonly coordinator_id?: (string);
  readonly epoch?: (number | string | Long);
}

export interface CoordinatorBeat {
  readonly coordinator_id: (string);
  readonly epoch: (string);
}
