// Original file: catalog.proto

import type { Long } from '@grpc/proto-loader';

export interface ListedClientInput {
  readonly name?: (string);
  readonly client_id?: (string);
  readonly roles?: readonly (string)[];
  readonly scope?: readonly (string)[];
  readonly status?: (string);
  readonly created_at_ms?: (number | string | Long);
  readonly rotated_at_ms?: (number | string | Long);
  readonly previous_until_ms?: (number | string | Long);
}

export interface ListedClient {
  readonly name: (string);
  readonly client_id: (string);
  readonly roles: readonly (string)[];
  readonly scope: readonly (string)[];
  readonly status: (string);
  readonly created_at_ms: (string);
  readonly rotated_at_ms: (string);
  readonly previous_until_ms: (string);
}
