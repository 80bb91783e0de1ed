// Original file: member.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { DescribeReplyInput as _skein_member_v1_DescribeReplyInput, DescribeReply as _skein_member_v1_DescribeReply } from '../../../skein/member/v1/DescribeReply.ts';
import type { DescribeRequestInput as _skein_member_v1_DescribeRequestInput, DescribeRequest as _skein_member_v1_DescribeRequest } from '../../../skein/member/v1/DescribeRequest.ts';
import type { ReachReplyInput as _skein_member_v1_ReachReplyInput, ReachReply as _skein_member_v1_ReachReply } from '../../../skein/member/v1/ReachReply.ts';
import type { ReachRequestInput as _skein_member_v1_ReachRequestInput, ReachRequest as _skein_member_v1_ReachRequest } from '../../../skein/member/v1/ReachRequest.ts';
import type { RestartReplyInput as _skein_member_v1_RestartReplyInput, RestartReply as _skein_member_v1_RestartReply } from '../../../skein/member/v1/RestartReply.ts';
import type { RestartRequestInput as _skein_member_v1_RestartRequestInput, RestartRequest as _skein_member_v1_RestartRequest } from '../../../skein/member/v1/RestartRequest.ts';

export interface MemberClient extends grpc.Client {
  Describe(argument: _skein_member_v1_DescribeRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_member_v1_DescribeReply>): grpc.ClientUnaryCall;
  Describe(argument: _skein_member_v1_DescribeRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_member_v1_DescribeReply>): grpc.ClientUnaryCall;
  Describe(argument: _skein_member_v1_DescribeRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_member_v1_DescribeReply>): grpc.ClientUnaryCall;
  Describe(argument: _skein_member_v1_DescribeRequestInput, callback: grpc.requestCallback<_skein_member_v1_DescribeReply>): grpc.ClientUnaryCall;
  describe(argument: _skein_member_v1_DescribeRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_member_v1_DescribeReply>): grpc.ClientUnaryCall;
  describe(argument: _skein_member_v1_DescribeRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_member_v1_DescribeReply>): grpc.ClientUnaryCall;
  describe(argument: _skein_member_v1_DescribeRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_member_v1_DescribeReply>): grpc.ClientUnaryCall;
  describe(argument: _skein_member_v1_DescribeRequestInput, callback: grpc.requestCallback<_skein_member_v1_DescribeReply>): grpc.ClientUnaryCall;
  
  Reach(argument: _skein_member_v1_ReachRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_member_v1_ReachReply>): grpc.ClientUnaryCall;
  Reach(argument: _skein_member_v1_ReachRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_member_v1_ReachReply>): grpc.ClientUnaryCall;
  Reach(argument: _skein_member_v1_ReachRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_member_v1_ReachReply>): grpc.ClientUnaryCall;
  Reach(argument: _skein_member_v1_ReachRequestInput, callback: grpc.requestCallback<_skein_member_v1_ReachReply>): grpc.ClientUnaryCall;
  reach(argument: _skein_member_v1_ReachRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_member_v1_ReachReply>): grpc.ClientUnaryCall;
  reach(argument: _skein_member_v1_ReachRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_member_v1_ReachReply>): grpc.ClientUnaryCall;
  reach(argument: _skein_member_v1_ReachRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_member_v1_ReachReply>): grpc.ClientUnaryCall;
  reach(argument: _skein_member_v1_ReachRequestInput, callback: grpc.requestCallback<_skein_member_v1_ReachReply>): grpc.ClientUnaryCall;
  
  Restart(argument: _skein_member_v1_RestartRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_member_v1_RestartReply>): grpc.ClientUnaryCall;
  Restart(argument: _skein_member_v1_RestartRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_member_v1_RestartReply>): grpc.ClientUnaryCall;
  Restart(argument: _skein_member_v1_RestartRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_member_v1_RestartReply>): grpc.ClientUnaryCall;
  Restart(argument: _skein_member_v1_RestartRequestInput, callback: grpc.requestCallback<_skein_member_v1_RestartReply>): grpc.ClientUnaryCall;
  restart(argument: _skein_member_v1_RestartRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_member_v1_RestartReply>): grpc.ClientUnaryCall;
  restart(argument: _skein_member_v1_RestartRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_member_v1_RestartReply>): grpc.ClientUnaryCall;
  restart(argument: _skein_member_v1_RestartRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_member_v1_RestartReply>): grpc.ClientUnaryCall;
  restart(argument: _skein_member_v1_RestartRequestInput, callback: grpc.requestCallback<_skein_member_v1_RestartReply>): grpc.ClientUnaryCall;
  
}

export interface MemberHandlers extends grpc.UntypedServiceImplementation {
  Describe: grpc.handleUnaryCall<_skein_member_v1_DescribeRequest, _skein_member_v1_DescribeReplyInput>;
  
  Reach: grpc.handleUnaryCall<_skein_member_v1_ReachRequest, _skein_member_v1_ReachReplyInput>;
  
  Restart: grpc.handleUnaryCall<_skein_member_v1_RestartRequest, _skein_member_v1_RestartReplyInput>;
  
}

export interface MemberDefinition extends grpc.ServiceDefinition {
  Describe: MethodDefinition<_skein_member_v1_DescribeRequestInput, _skein_member_v1_DescribeReplyInput, _skein_member_v1_DescribeRequest, _skein_member_v1_DescribeReply>
  Reach: MethodDefinition<_skein_member_v1_ReachRequestInput, _skein_member_v1_ReachReplyInput, _skein_member_v1_ReachRequest, _skein_member_v1_ReachReply>
  Restart: MethodDefinition<_skein_member_v1_RestartRequestInput, _skein_member_v1_RestartReplyInput, _skein_member_v1_RestartRequest, _skein_member_v1_RestartReply>
}
