// Original file: worker.proto

import type { Long } from '@grpc/proto-loader';

export interface CoordinatorBeatInput {
  readonly coordinator_id?: (string);
  readonly epoch?: (number | string | Long);
  readonly levels_ms?: readonly (number | string)[];
  readonly level_weight_ratio?: (number | string);
}

export interface CoordinatorBeat {
  readonly coordinator_id: (string);
  readonly epoch: (string);
  readonly levels_ms: readonly (number)[];
  readonly level_weight_ratio: (number);
}
