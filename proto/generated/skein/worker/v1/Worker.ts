// Original file: worker.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { AnswerInput as _skein_calls_v1_AnswerInput, Answer as _skein_calls_v1_Answer } from '../../../skein/calls/v1/Answer.ts';
import type { CallInput as _skein_calls_v1_CallInput, Call as _skein_calls_v1_Call } from '../../../skein/calls/v1/Call.ts';
import type { CancelTaskReplyInput as _skein_worker_v1_CancelTaskReplyInput, CancelTaskReply as _skein_worker_v1_CancelTaskReply } from '../../../skein/worker/v1/CancelTaskReply.ts';
import type { CancelTaskRequestInput as _skein_worker_v1_CancelTaskRequestInput, CancelTaskRequest as _skein_worker_v1_CancelTaskRequest } from '../../../skein/worker/v1/CancelTaskRequest.ts';
import type { ClearCacheReplyInput as _skein_worker_v1_ClearCacheReplyInput, ClearCacheReply as _skein_worker_v1_ClearCacheReply } from '../../../skein/worker/v1/ClearCacheReply.ts';
import type { ClearCacheRequestInput as _skein_worker_v1_ClearCacheRequestInput, ClearCacheRequest as _skein_worker_v1_ClearCacheRequest } from '../../../skein/worker/v1/ClearCacheRequest.ts';
import type { CoordinatorBeatInput as _skein_worker_v1_CoordinatorBeatInput, CoordinatorBeat as _skein_worker_v1_CoordinatorBeat } from '../../../skein/worker/v1/CoordinatorBeat.ts';
import type { DrainReplyInput as _skein_worker_v1_DrainReplyInput, DrainReply as _skein_worker_v1_DrainReply } from '../../../skein/worker/v1/DrainReply.ts';
import type { DrainRequestInput as _skein_worker_v1_DrainRequestInput, DrainRequest as _skein_worker_v1_DrainRequest } from '../../../skein/worker/v1/DrainRequest.ts';
import type { EndQueryReplyInput as _skein_worker_v1_EndQueryReplyInput, EndQueryReply as _skein_worker_v1_EndQueryReply } from '../../../skein/worker/v1/EndQueryReply.ts';
import type { EndQueryRequestInput as _skein_worker_v1_EndQueryRequestInput, EndQueryRequest as _skein_worker_v1_EndQueryRequest } from '../../../skein/worker/v1/EndQueryRequest.ts';
import type { ReachReplyInput as _skein_worker_v1_ReachReplyInput, ReachReply as _skein_worker_v1_ReachReply } from '../../../skein/worker/v1/ReachReply.ts';
import type { ReachRequestInput as _skein_worker_v1_ReachRequestInput, ReachRequest as _skein_worker_v1_ReachRequest } from '../../../skein/worker/v1/ReachRequest.ts';
import type { ReadPartitionReplyInput as _skein_worker_v1_ReadPartitionReplyInput, ReadPartitionReply as _skein_worker_v1_ReadPartitionReply } from '../../../skein/worker/v1/ReadPartitionReply.ts';
import type { ReadPartitionRequestInput as _skein_worker_v1_ReadPartitionRequestInput, ReadPartitionRequest as _skein_worker_v1_ReadPartitionRequest } from '../../../skein/worker/v1/ReadPartitionRequest.ts';
import type { RenewKeyReplyInput as _skein_worker_v1_RenewKeyReplyInput, RenewKeyReply as _skein_worker_v1_RenewKeyReply } from '../../../skein/worker/v1/RenewKeyReply.ts';
import type { RenewKeyRequestInput as _skein_worker_v1_RenewKeyRequestInput, RenewKeyRequest as _skein_worker_v1_RenewKeyRequest } from '../../../skein/worker/v1/RenewKeyRequest.ts';
import type { RunTaskReplyInput as _skein_worker_v1_RunTaskReplyInput, RunTaskReply as _skein_worker_v1_RunTaskReply } from '../../../skein/worker/v1/RunTaskReply.ts';
import type { RunTaskRequestInput as _skein_worker_v1_RunTaskRequestInput, RunTaskRequest as _skein_worker_v1_RunTaskRequest } from '../../../skein/worker/v1/RunTaskRequest.ts';
import type { WorkerBeatInput as _skein_worker_v1_WorkerBeatInput, WorkerBeat as _skein_worker_v1_WorkerBeat } from '../../../skein/worker/v1/WorkerBeat.ts';

export interface WorkerClient extends grpc.Client {
  Attach(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_skein_worker_v1_CoordinatorBeatInput, _skein_worker_v1_WorkerBeat>;
  Attach(options?: grpc.CallOptions): grpc.ClientDuplexStream<_skein_worker_v1_CoordinatorBeatInput, _skein_worker_v1_WorkerBeat>;
  attach(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_skein_worker_v1_CoordinatorBeatInput, _skein_worker_v1_WorkerBeat>;
  attach(options?: grpc.CallOptions): grpc.ClientDuplexStream<_skein_worker_v1_CoordinatorBeatInput, _skein_worker_v1_WorkerBeat>;
  
  Calls(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_skein_calls_v1_CallInput, _skein_calls_v1_Answer>;
  Calls(options?: grpc.CallOptions): grpc.ClientDuplexStream<_skein_calls_v1_CallInput, _skein_calls_v1_Answer>;
  calls(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_skein_calls_v1_CallInput, _skein_calls_v1_Answer>;
  calls(options?: grpc.CallOptions): grpc.ClientDuplexStream<_skein_calls_v1_CallInput, _skein_calls_v1_Answer>;
  
  CancelTask(argument: _skein_worker_v1_CancelTaskRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_CancelTaskReply>): grpc.ClientUnaryCall;
  CancelTask(argument: _skein_worker_v1_CancelTaskRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_worker_v1_CancelTaskReply>): grpc.ClientUnaryCall;
  CancelTask(argument: _skein_worker_v1_CancelTaskRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_CancelTaskReply>): grpc.ClientUnaryCall;
  CancelTask(argument: _skein_worker_v1_CancelTaskRequestInput, callback: grpc.requestCallback<_skein_worker_v1_CancelTaskReply>): grpc.ClientUnaryCall;
  cancelTask(argument: _skein_worker_v1_CancelTaskRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_CancelTaskReply>): grpc.ClientUnaryCall;
  cancelTask(argument: _skein_worker_v1_CancelTaskRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_worker_v1_CancelTaskReply>): grpc.ClientUnaryCall;
  cancelTask(argument: _skein_worker_v1_CancelTaskRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_CancelTaskReply>): grpc.ClientUnaryCall;
  cancelTask(argument: _skein_worker_v1_CancelTaskRequestInput, callback: grpc.requestCallback<_skein_worker_v1_CancelTaskReply>): grpc.ClientUnaryCall;
  
  ClearCache(argument: _skein_worker_v1_ClearCacheRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_ClearCacheReply>): grpc.ClientUnaryCall;
  ClearCache(argument: _skein_worker_v1_ClearCacheRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_worker_v1_ClearCacheReply>): grpc.ClientUnaryCall;
  ClearCache(argument: _skein_worker_v1_ClearCacheRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_ClearCacheReply>): grpc.ClientUnaryCall;
  ClearCache(argument: _skein_worker_v1_ClearCacheRequestInput, callback: grpc.requestCallback<_skein_worker_v1_ClearCacheReply>): grpc.ClientUnaryCall;
  clearCache(argument: _skein_worker_v1_ClearCacheRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_ClearCacheReply>): grpc.ClientUnaryCall;
  clearCache(argument: _skein_worker_v1_ClearCacheRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_worker_v1_ClearCacheReply>): grpc.ClientUnaryCall;
  clearCache(argument: _skein_worker_v1_ClearCacheRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_ClearCacheReply>): grpc.ClientUnaryCall;
  clearCache(argument: _skein_worker_v1_ClearCacheRequestInput, callback: grpc.requestCallback<_skein_worker_v1_ClearCacheReply>): grpc.ClientUnaryCall;
  
  Drain(argument: _skein_worker_v1_DrainRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_DrainReply>): grpc.ClientUnaryCall;
  Drain(argument: _skein_worker_v1_DrainRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_worker_v1_DrainReply>): grpc.ClientUnaryCall;
  Drain(argument: _skein_worker_v1_DrainRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_DrainReply>): grpc.ClientUnaryCall;
  Drain(argument: _skein_worker_v1_DrainRequestInput, callback: grpc.requestCallback<_skein_worker_v1_DrainReply>): grpc.ClientUnaryCall;
  drain(argument: _skein_worker_v1_DrainRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_DrainReply>): grpc.ClientUnaryCall;
  drain(argument: _skein_worker_v1_DrainRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_worker_v1_DrainReply>): grpc.ClientUnaryCall;
  drain(argument: _skein_worker_v1_DrainRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_DrainReply>): grpc.ClientUnaryCall;
  drain(argument: _skein_worker_v1_DrainRequestInput, callback: grpc.requestCallback<_skein_worker_v1_DrainReply>): grpc.ClientUnaryCall;
  
  EndQuery(argument: _skein_worker_v1_EndQueryRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_EndQueryReply>): grpc.ClientUnaryCall;
  EndQuery(argument: _skein_worker_v1_EndQueryRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_worker_v1_EndQueryReply>): grpc.ClientUnaryCall;
  EndQuery(argument: _skein_worker_v1_EndQueryRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_EndQueryReply>): grpc.ClientUnaryCall;
  EndQuery(argument: _skein_worker_v1_EndQueryRequestInput, callback: grpc.requestCallback<_skein_worker_v1_EndQueryReply>): grpc.ClientUnaryCall;
  endQuery(argument: _skein_worker_v1_EndQueryRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_EndQueryReply>): grpc.ClientUnaryCall;
  endQuery(argument: _skein_worker_v1_EndQueryRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_worker_v1_EndQueryReply>): grpc.ClientUnaryCall;
  endQuery(argument: _skein_worker_v1_EndQueryRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_EndQueryReply>): grpc.ClientUnaryCall;
  endQuery(argument: _skein_worker_v1_EndQueryRequestInput, callback: grpc.requestCallback<_skein_worker_v1_EndQueryReply>): grpc.ClientUnaryCall;
  
  Reach(argument: _skein_worker_v1_ReachRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_ReachReply>): grpc.ClientUnaryCall;
  Reach(argument: _skein_worker_v1_ReachRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_worker_v1_ReachReply>): grpc.ClientUnaryCall;
  Reach(argument: _skein_worker_v1_ReachRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_ReachReply>): grpc.ClientUnaryCall;
  Reach(argument: _skein_worker_v1_ReachRequestInput, callback: grpc.requestCallback<_skein_worker_v1_ReachReply>): grpc.ClientUnaryCall;
  reach(argument: _skein_worker_v1_ReachRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_ReachReply>): grpc.ClientUnaryCall;
  reach(argument: _skein_worker_v1_ReachRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_worker_v1_ReachReply>): grpc.ClientUnaryCall;
  reach(argument: _skein_worker_v1_ReachRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_ReachReply>): grpc.ClientUnaryCall;
  reach(argument: _skein_worker_v1_ReachRequestInput, callback: grpc.requestCallback<_skein_worker_v1_ReachReply>): grpc.ClientUnaryCall;
  
  ReadPartition(argument: _skein_worker_v1_ReadPartitionRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_ReadPartitionReply>): grpc.ClientUnaryCall;
  ReadPartition(argument: _skein_worker_v1_ReadPartitionRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_worker_v1_ReadPartitionReply>): grpc.ClientUnaryCall;
  ReadPartition(argument: _skein_worker_v1_ReadPartitionRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_ReadPartitionReply>): grpc.ClientUnaryCall;
  ReadPartition(argument: _skein_worker_v1_ReadPartitionRequestInput, callback: grpc.requestCallback<_skein_worker_v1_ReadPartitionReply>): grpc.ClientUnaryCall;
  readPartition(argument: _skein_worker_v1_ReadPartitionRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_ReadPartitionReply>): grpc.ClientUnaryCall;
  readPartition(argument: _skein_worker_v1_ReadPartitionRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_worker_v1_ReadPartitionReply>): grpc.ClientUnaryCall;
  readPartition(argument: _skein_worker_v1_ReadPartitionRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_ReadPartitionReply>): grpc.ClientUnaryCall;
  readPartition(argument: _skein_worker_v1_ReadPartitionRequestInput, callback: grpc.requestCallback<_skein_worker_v1_ReadPartitionReply>): grpc.ClientUnaryCall;
  
  RenewKey(argument: _skein_worker_v1_RenewKeyRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_RenewKeyReply>): grpc.ClientUnaryCall;
  RenewKey(argument: _skein_worker_v1_RenewKeyRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_worker_v1_RenewKeyReply>): grpc.ClientUnaryCall;
  RenewKey(argument: _skein_worker_v1_RenewKeyRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_RenewKeyReply>): grpc.ClientUnaryCall;
  RenewKey(argument: _skein_worker_v1_RenewKeyRequestInput, callback: grpc.requestCallback<_skein_worker_v1_RenewKeyReply>): grpc.ClientUnaryCall;
  renewKey(argument: _skein_worker_v1_RenewKeyRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_RenewKeyReply>): grpc.ClientUnaryCall;
  renewKey(argument: _skein_worker_v1_RenewKeyRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_worker_v1_RenewKeyReply>): grpc.ClientUnaryCall;
  renewKey(argument: _skein_worker_v1_RenewKeyRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_RenewKeyReply>): grpc.ClientUnaryCall;
  renewKey(argument: _skein_worker_v1_RenewKeyRequestInput, callback: grpc.requestCallback<_skein_worker_v1_RenewKeyReply>): grpc.ClientUnaryCall;
  
  RunTask(argument: _skein_worker_v1_RunTaskRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_RunTaskReply>): grpc.ClientUnaryCall;
  RunTask(argument: _skein_worker_v1_RunTaskRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_worker_v1_RunTaskReply>): grpc.ClientUnaryCall;
  RunTask(argument: _skein_worker_v1_RunTaskRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_RunTaskReply>): grpc.ClientUnaryCall;
  RunTask(argument: _skein_worker_v1_RunTaskRequestInput, callback: grpc.requestCallback<_skein_worker_v1_RunTaskReply>): grpc.ClientUnaryCall;
  runTask(argument: _skein_worker_v1_RunTaskRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_RunTaskReply>): grpc.ClientUnaryCall;
  runTask(argument: _skein_worker_v1_RunTaskRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_worker_v1_RunTaskReply>): grpc.ClientUnaryCall;
  runTask(argument: _skein_worker_v1_RunTaskRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_worker_v1_RunTaskReply>): grpc.ClientUnaryCall;
  runTask(argument: _skein_worker_v1_RunTaskRequestInput, callback: grpc.requestCallback<_skein_worker_v1_RunTaskReply>): grpc.ClientUnaryCall;
  
}

export interface WorkerHandlers extends grpc.UntypedServiceImplementation {
  Attach: grpc.handleBidiStreamingCall<_skein_worker_v1_CoordinatorBeat, _skein_worker_v1_WorkerBeatInput>;
  
  Calls: grpc.handleBidiStreamingCall<_skein_calls_v1_Call, _skein_calls_v1_AnswerInput>;
  
  CancelTask: grpc.handleUnaryCall<_skein_worker_v1_CancelTaskRequest, _skein_worker_v1_CancelTaskReplyInput>;
  
  ClearCache: grpc.handleUnaryCall<_skein_worker_v1_ClearCacheRequest, _skein_worker_v1_ClearCacheReplyInput>;
  
  Drain: grpc.handleUnaryCall<_skein_worker_v1_DrainRequest, _skein_worker_v1_DrainReplyInput>;
  
  EndQuery: grpc.handleUnaryCall<_skein_worker_v1_EndQueryRequest, _skein_worker_v1_EndQueryReplyInput>;
  
  Reach: grpc.handleUnaryCall<_skein_worker_v1_ReachRequest, _skein_worker_v1_ReachReplyInput>;
  
  ReadPartition: grpc.handleUnaryCall<_skein_worker_v1_ReadPartitionRequest, _skein_worker_v1_ReadPartitionReplyInput>;
  
  RenewKey: grpc.handleUnaryCall<_skein_worker_v1_RenewKeyRequest, _skein_worker_v1_RenewKeyReplyInput>;
  
  RunTask: grpc.handleUnaryCall<_skein_worker_v1_RunTaskRequest, _skein_worker_v1_RunTaskReplyInput>;
  
}

export interface WorkerDefinition extends grpc.ServiceDefinition {
  Attach: MethodDefinition<_skein_worker_v1_CoordinatorBeatInput, _skein_worker_v1_WorkerBeatInput, _skein_worker_v1_CoordinatorBeat, _skein_worker_v1_WorkerBeat>
  Calls: MethodDefinition<_skein_calls_v1_CallInput, _skein_calls_v1_AnswerInput, _skein_calls_v1_Call, _skein_calls_v1_Answer>
  CancelTask: MethodDefinition<_skein_worker_v1_CancelTaskRequestInput, _skein_worker_v1_CancelTaskReplyInput, _skein_worker_v1_CancelTaskRequest, _skein_worker_v1_CancelTaskReply>
  ClearCache: MethodDefinition<_skein_worker_v1_ClearCacheRequestInput, _skein_worker_v1_ClearCacheReplyInput, _skein_worker_v1_ClearCacheRequest, _skein_worker_v1_ClearCacheReply>
  Drain: MethodDefinition<_skein_worker_v1_DrainRequestInput, _skein_worker_v1_DrainReplyInput, _skein_worker_v1_DrainRequest, _skein_worker_v1_DrainReply>
  EndQuery: MethodDefinition<_skein_worker_v1_EndQueryRequestInput, _skein_worker_v1_EndQueryReplyInput, _skein_worker_v1_EndQueryRequest, _skein_worker_v1_EndQueryReply>
  Reach: MethodDefinition<_skein_worker_v1_ReachRequestInput, _skein_worker_v1_ReachReplyInput, _skein_worker_v1_ReachRequest, _skein_worker_v1_ReachReply>
  ReadPartition: MethodDefinition<_skein_worker_v1_ReadPartitionRequestInput, _skein_worker_v1_ReadPartitionReplyInput, _skein_worker_v1_ReadPartitionRequest, _skein_worker_v1_ReadPartitionReply>
  RenewKey: MethodDefinition<_skein_worker_v1_RenewKeyRequestInput, _skein_worker_v1_RenewKeyReplyInput, _skein_worker_v1_RenewKeyRequest, _skein_worker_v1_RenewKeyReply>
  RunTask: MethodDefinition<_skein_worker_v1_RunTaskRequestInput, _skein_worker_v1_RunTaskReplyInput, _skein_worker_v1_RunTaskRequest, _skein_worker_v1_RunTaskReply>
}
