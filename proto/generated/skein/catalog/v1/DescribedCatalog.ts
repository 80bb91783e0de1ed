// Original file: catalog.proto

import type { Long } from '@grpc/proto-loader';

export interface DescribedCatalogInput {
  readonly name?: (string);
  readonly tenant?: (string);
  readonly roots?: readonly (string)[];
  readonly undrop_window_ms?: (number | string | Long);
  readonly bucket?: ({[key: string]: string});
}

export interface DescribedCatalog {
  readonly name: (string);
  readonly tenant: (string);
  readonly roots: readonly (string)[];
  readonly undrop_window_ms: (string);
  readonly bucket: ({[key: string]: string});
}
