// Original file: flight.proto

import type { Long } from '@grpc/proto-loader';

export interface HandshakeRequestInput {
  readonly protocol_version?: (number | string | Long);
  readonly payload?: (Buffer | Uint8Array | string);
}

export interface HandshakeRequest {
  readonly protocol_version: (string);
  readonly payload: (Buffer);
}
