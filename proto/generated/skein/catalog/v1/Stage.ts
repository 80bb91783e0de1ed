// Original file: catalog.proto

import type { Long } from '@grpc/proto-loader';

export interface StageInput {
  readonly id?: (string);
  readonly catalog?: (string);
  readonly namespace?: readonly (string)[];
  readonly name?: (string);
  readonly location?: (string);
  readonly properties?: ({[key: string]: string});
  readonly created_at_ms?: (number | string | Long);
}

export interface Stage {
  readonly id: (string);
  readonly catalog: (string);
  readonly namespace: readonly (string)[];
  readonly name: (string);
  readonly location: (string);
  readonly properties: ({[key: string]: string});
  readonly created_at_ms: (string);
}
