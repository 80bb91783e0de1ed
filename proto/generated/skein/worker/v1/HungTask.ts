// Original file: worker.proto

import type { Long } from '@grpc/proto-loader';

export interface HungTaskInput {
  readonly query_id?: (string);
  readonly task_id?: (string);
  readonly quantum_ms?: (number | string | Long);
}

export interface HungTask {
  readonly query_id: (string);
  readonly task_id: (string);
  readonly quantum_ms: (string);
}
