// Original file: worker.proto

import type { QueryLevelInput as _skein_worker_v1_QueryLevelInput, QueryLevel as _skein_worker_v1_QueryLevel } from '../../../skein/worker/v1/QueryLevel.ts';
import type { Long } from '@grpc/proto-loader';

export interface CoordinatorBeatInput {
  readonly coordinator_id?: (string);
  readonly epoch?: (number | string | Long);
  readonly levels_ms?: readonly (number | string)[];
  readonly level_weight_ratio?: (number | string);
  readonly queries?: readonly (_skein_worker_v1_QueryLevelInput)[];
  readonly may_end?: (boolean);
  readonly hands_over?: (boolean);
}

export interface CoordinatorBeat {
  readonly coordinator_id: (string);
  readonly epoch: (string);
  readonly levels_ms: readonly (number)[];
  readonly level_weight_ratio: (number);
  readonly queries: readonly (_skein_worker_v1_QueryLevel)[];
  readonly may_end: (boolean);
  readonly hands_over: (boolean);
}
