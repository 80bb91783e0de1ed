// Original file: member.proto

import type { Long } from '@grpc/proto-loader';

export interface RestartReplyInput {
  readonly drain_ms?: (number | string | Long);
}

export interface RestartReply {
  readonly drain_ms: (string);
}
