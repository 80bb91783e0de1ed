// Original file: catalog.proto

import type { Long } from '@grpc/proto-loader';

export interface EpochInput {
  readonly principal?: (string);
  readonly session_epoch?: (number | string | Long);
  readonly stopped?: (boolean);
}

export interface Epoch {
  readonly principal: (string);
  readonly session_epoch: (string);
  readonly stopped: (boolean);
}
