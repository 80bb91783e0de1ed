// Original file: member.proto

import type { Long } from '@grpc/proto-loader';

export interface CertificateInput {
  readonly use?: (string);
  readonly ends_ms?: (number | string | Long);
}

export interface Certificate {
  readonly use: (string);
  readonly ends_ms: (string);
}
