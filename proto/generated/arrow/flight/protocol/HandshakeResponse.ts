// Original file: flight.proto

import type { Long } from '@grpc/proto-loader';

export interface HandshakeResponseInput {
  readonly protocol_version?: (number | string | Long);
  readonly payload?: (Buffer | Uint8Array | string);
}

export interface HandshakeResponse {
  readonly protocol_version: (string);
  readonly payload: (Buffer);
}
