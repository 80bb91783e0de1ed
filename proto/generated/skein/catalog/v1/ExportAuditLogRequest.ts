// Original file: catalog.proto

import type { Long } from '@grpc/proto-loader';

export interface ExportAuditLogRequestInput {
  readonly tenant?: (string);
  readonly since_ms?: (number | string | Long);
  readonly after?: (string);
}

export interface ExportAuditLogRequest {
  readonly tenant: (string);
  readonly since_ms: (string);
  readonly after: (string);
}
