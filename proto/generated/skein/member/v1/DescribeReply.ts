// Original file: member.proto

import type { CertificateInput as _skein_member_v1_CertificateInput, Certificate as _skein_member_v1_Certificate } from '../../../skein/member/v1/Certificate.ts';
import type { Long } from '@grpc/proto-loader';

export interface DescribeReplyInput {
  readonly id?: (string);
  readonly release?: (string);
  readonly now_ms?: (number | string | Long);
  readonly started_ms?: (number | string | Long);
  readonly not_ready?: (string);
  readonly certificates?: readonly (_skein_member_v1_CertificateInput)[];
}

export interface DescribeReply {
  readonly id: (string);
  readonly release: (string);
  readonly now_ms: (string);
  readonly started_ms: (string);
  readonly not_ready: (string);
  readonly certificates: readonly (_skein_member_v1_Certificate)[];
}
