// Original file: catalog.proto

import type { Long } from '@grpc/proto-loader';

export interface AlterCatalogRequestInput {
  readonly name?: (string);
  readonly allow_roots?: readonly (string)[];
  readonly disallow_roots?: readonly (string)[];
  readonly undrop_window_ms?: (number | string | Long);
}

export interface AlterCatalogRequest {
  readonly name: (string);
  readonly allow_roots: readonly (string)[];
  readonly disallow_roots: readonly (string)[];
  readonly undrop_window_ms: (string);
}
