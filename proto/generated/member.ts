import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { CertificateInput as _skein_member_v1_CertificateInput, Certificate as _skein_member_v1_Certificate } from './skein/member/v1/Certificate.ts';
import type { DescribeReplyInput as _skein_member_v1_DescribeReplyInput, DescribeReply as _skein_member_v1_DescribeReply } from './skein/member/v1/DescribeReply.ts';
import type { DescribeRequestInput as _skein_member_v1_DescribeRequestInput, DescribeRequest as _skein_member_v1_DescribeRequest } from './skein/member/v1/DescribeRequest.ts';
import type { MemberClient as _skein_member_v1_MemberClient, MemberDefinition as _skein_member_v1_MemberDefinition } from './skein/member/v1/Member.ts';
import type { ReachReplyInput as _skein_member_v1_ReachReplyInput, ReachReply as _skein_member_v1_ReachReply } from './skein/member/v1/ReachReply.ts';
import type { ReachRequestInput as _skein_member_v1_ReachRequestInput, ReachRequest as _skein_member_v1_ReachRequest } from './skein/member/v1/ReachRequest.ts';
import type { RestartReplyInput as _skein_member_v1_RestartReplyInput, RestartReply as _skein_member_v1_RestartReply } from './skein/member/v1/RestartReply.ts';
import type { RestartRequestInput as _skein_member_v1_RestartRequestInput, RestartRequest as _skein_member_v1_RestartRequest } from './skein/member/v1/RestartRequest.ts';
import type { WayInput as _skein_member_v1_WayInput, Way as _skein_member_v1_Way } from './skein/member/v1/Way.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  skein: {
    member: {
      v1: {
        Certificate: MessageTypeDefinition<_skein_member_v1_CertificateInput, _skein_member_v1_Certificate>
        DescribeReply: MessageTypeDefinition<_skein_member_v1_DescribeReplyInput, _skein_member_v1_DescribeReply>
        DescribeRequest: MessageTypeDefinition<_skein_member_v1_DescribeRequestInput, _skein_member_v1_DescribeRequest>
        Member: SubtypeConstructor<typeof grpc.Client, _skein_member_v1_MemberClient> & { service: _skein_member_v1_MemberDefinition }
        ReachReply: MessageTypeDefinition<_skein_member_v1_ReachReplyInput, _skein_member_v1_ReachReply>
        ReachRequest: MessageTypeDefinition<_skein_member_v1_ReachRequestInput, _skein_member_v1_ReachRequest>
        RestartReply: MessageTypeDefinition<_skein_member_v1_RestartReplyInput, _skein_member_v1_RestartReply>
        RestartRequest: MessageTypeDefinition<_skein_member_v1_RestartRequestInput, _skein_member_v1_RestartRequest>
        Way: MessageTypeDefinition<_skein_member_v1_WayInput, _skein_member_v1_Way>
      }
    }
  }
}

