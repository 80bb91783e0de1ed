// Original file: catalog.proto

import type { Long } from '@grpc/proto-loader';

export interface BucketKeyInput {
  readonly access_key_id?: (string);
  readonly secret_access_key?: (string);
  readonly session_token?: (string);
  readonly expires_at_ms?: (number | string | Long);
  readonly region?: (string);
  readonly endpoint?: (string);
  readonly path_style?: (boolean);
  readonly folders?: readonly (string)[];
  readonly writes?: (boolean);
}

export interface BucketKey {
  readonly access_key_id: (string);
  readonly secret_access_key: (string);
  readonly session_token: (string);
  readonly expires_at_ms: (string);
  readonly region: (string);
  readonly endpoint: (string);
  readonly path_style: (boolean);
  readonly folders: readonly (string)[];
  readonly writes: (boolean);
}
