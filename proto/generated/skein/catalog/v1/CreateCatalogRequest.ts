// Original file: catalog.proto

import type { Long } from '@grpc/proto-loader';

export interface CreateCatalogRequestInput {
  readonly tenant?: (string);
  readonly name?: (string);
  readonly location?: (string);
  readonly allow_roots?: readonly (string)[];
  readonly undrop_window_ms?: (number | string | Long);
}

export interface CreateCatalogRequest {
  readonly tenant: (string);
  readonly name: (string);
  readonly location: (string);
  readonly allow_roots: readonly (string)[];
  readonly undrop_window_ms: (string);
}
