import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { AnswerInput as _skein_calls_v1_AnswerInput, Answer as _skein_calls_v1_Answer } from './skein/calls/v1/Answer.ts';
import type { CallInput as _skein_calls_v1_CallInput, Call as _skein_calls_v1_Call } from './skein/calls/v1/Call.ts';
import type { CancelTaskReplyInput as _skein_worker_v1_CancelTaskReplyInput, CancelTaskReply as _skein_worker_v1_CancelTaskReply } from './skein/worker/v1/CancelTaskReply.ts';
import type { CancelTaskRequestInput as _skein_worker_v1_CancelTaskRequestInput, CancelTaskRequest as _skein_worker_v1_CancelTaskRequest } from './skein/worker/v1/CancelTaskRequest.ts';
import type { ClearCacheReplyInput as _skein_worker_v1_ClearCacheReplyInput, ClearCacheReply as _skein_worker_v1_ClearCacheReply } from './skein/worker/v1/ClearCacheReply.ts';
import type { ClearCacheRequestInput as _skein_worker_v1_ClearCacheRequestInput, ClearCacheRequest as _skein_worker_v1_ClearCacheRequest } from './skein/worker/v1/ClearCacheRequest.ts';
import type { CoordinatorBeatInput as _skein_worker_v1_CoordinatorBeatInput, CoordinatorBeat as _skein_worker_v1_CoordinatorBeat } from './skein/worker/v1/CoordinatorBeat.ts';
import type { DrainReplyInput as _skein_worker_v1_DrainReplyInput, DrainReply as _skein_worker_v1_DrainReply } from './skein/worker/v1/DrainReply.ts';
import type { DrainRequestInput as _skein_worker_v1_DrainRequestInput, DrainRequest as _skein_worker_v1_DrainRequest } from './skein/worker/v1/DrainRequest.ts';
import type { EndQueryReplyInput as _skein_worker_v1_EndQueryReplyInput, EndQueryReply as _skein_worker_v1_EndQueryReply } from './skein/worker/v1/EndQueryReply.ts';
import type { EndQueryRequestInput as _skein_worker_v1_EndQueryRequestInput, EndQueryRequest as _skein_worker_v1_EndQueryRequest } from './skein/worker/v1/EndQueryRequest.ts';
import type { HungTaskInput as _skein_worker_v1_HungTaskInput, HungTask as _skein_worker_v1_HungTask } from './skein/worker/v1/HungTask.ts';
import type { LostInputInput as _skein_worker_v1_LostInputInput, LostInput as _skein_worker_v1_LostInput } from './skein/worker/v1/LostInput.ts';
import type { QueryLevelInput as _skein_worker_v1_QueryLevelInput, QueryLevel as _skein_worker_v1_QueryLevel } from './skein/worker/v1/QueryLevel.ts';
import type { ReachReplyInput as _skein_worker_v1_ReachReplyInput, ReachReply as _skein_worker_v1_ReachReply } from './skein/worker/v1/ReachReply.ts';
import type { ReachRequestInput as _skein_worker_v1_ReachRequestInput, ReachRequest as _skein_worker_v1_ReachRequest } from './skein/worker/v1/ReachRequest.ts';
import type { ReadPartitionReplyInput as _skein_worker_v1_ReadPartitionReplyInput, ReadPartitionReply as _skein_worker_v1_ReadPartitionReply } from './skein/worker/v1/ReadPartitionReply.ts';
import type { ReadPartitionRequestInput as _skein_worker_v1_ReadPartitionRequestInput, ReadPartitionRequest as _skein_worker_v1_ReadPartitionRequest } from './skein/worker/v1/ReadPartitionRequest.ts';
import type { RenewKeyReplyInput as _skein_worker_v1_RenewKeyReplyInput, RenewKeyReply as _skein_worker_v1_RenewKeyReply } from './skein/worker/v1/RenewKeyReply.ts';
import type { RenewKeyRequestInput as _skein_worker_v1_RenewKeyRequestInput, RenewKeyRequest as _skein_worker_v1_RenewKeyRequest } from './skein/worker/v1/RenewKeyRequest.ts';
import type { RunTaskReplyInput as _skein_worker_v1_RunTaskReplyInput, RunTaskReply as _skein_worker_v1_RunTaskReply } from './skein/worker/v1/RunTaskReply.ts';
import type { RunTaskRequestInput as _skein_worker_v1_RunTaskRequestInput, RunTaskRequest as _skein_worker_v1_RunTaskRequest } from './skein/worker/v1/RunTaskRequest.ts';
import type { TaskTimeInput as _skein_worker_v1_TaskTimeInput, TaskTime as _skein_worker_v1_TaskTime } from './skein/worker/v1/TaskTime.ts';
import type { WantedKeyInput as _skein_worker_v1_WantedKeyInput, WantedKey as _skein_worker_v1_WantedKey } from './skein/worker/v1/WantedKey.ts';
import type { WorkerClient as _skein_worker_v1_WorkerClient, WorkerDefinition as _skein_worker_v1_WorkerDefinition } from './skein/worker/v1/Worker.ts';
import type { WorkerBeatInput as _skein_worker_v1_WorkerBeatInput, WorkerBeat as _skein_worker_v1_WorkerBeat } from './skein/worker/v1/WorkerBeat.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  skein: {
    calls: {
      v1: {
        Answer: MessageTypeDefinition<_skein_calls_v1_AnswerInput, _skein_calls_v1_Answer>
        Call: MessageTypeDefinition<_skein_calls_v1_CallInput, _skein_calls_v1_Call>
      }
    }
    worker: {
      v1: {
        CancelTaskReply: MessageTypeDefinition<_skein_worker_v1_CancelTaskReplyInput, _skein_worker_v1_CancelTaskReply>
        CancelTaskRequest: MessageTypeDefinition<_skein_worker_v1_CancelTaskRequestInput, _skein_worker_v1_CancelTaskRequest>
        ClearCacheReply: MessageTypeDefinition<_skein_worker_v1_ClearCacheReplyInput, _skein_worker_v1_ClearCacheReply>
        ClearCacheRequest: MessageTypeDefinition<_skein_worker_v1_ClearCacheRequestInput, _skein_worker_v1_ClearCacheRequest>
        CoordinatorBeat: MessageTypeDefinition<_skein_worker_v1_CoordinatorBeatInput, _skein_worker_v1_CoordinatorBeat>
        DrainReply: MessageTypeDefinition<_skein_worker_v1_DrainReplyInput, _skein_worker_v1_DrainReply>
        DrainRequest: MessageTypeDefinition<_skein_worker_v1_DrainRequestInput, _skein_worker_v1_DrainRequest>
        EndQueryReply: MessageTypeDefinition<_skein_worker_v1_EndQueryReplyInput, _skein_worker_v1_EndQueryReply>
        EndQueryRequest: MessageTypeDefinition<_skein_worker_v1_EndQueryRequestInput, _skein_worker_v1_EndQueryRequest>
        HungTask: MessageTypeDefinition<_skein_worker_v1_HungTaskInput, _skein_worker_v1_HungTask>
        LostInput: MessageTypeDefinition<_skein_worker_v1_LostInputInput, _skein_worker_v1_LostInput>
        QueryLevel: MessageTypeDefinition<_skein_worker_v1_QueryLevelInput, _skein_worker_v1_QueryLevel>
        ReachReply: MessageTypeDefinition<_skein_worker_v1_ReachReplyInput, _skein_worker_v1_ReachReply>
        ReachRequest: MessageTypeDefinition<_skein_worker_v1_ReachRequestInput, _skein_worker_v1_ReachRequest>
        ReadPartitionReply: MessageTypeDefinition<_skein_worker_v1_ReadPartitionReplyInput, _skein_worker_v1_ReadPartitionReply>
        ReadPartitionRequest: MessageTypeDefinition<_skein_worker_v1_ReadPartitionRequestInput, _skein_worker_v1_ReadPartitionRequest>
        RenewKeyReply: MessageTypeDefinition<_skein_worker_v1_RenewKeyReplyInput, _skein_worker_v1_RenewKeyReply>
        RenewKeyRequest: MessageTypeDefinition<_skein_worker_v1_RenewKeyRequestInput, _skein_worker_v1_RenewKeyRequest>
        RunTaskReply: MessageTypeDefinition<_skein_worker_v1_RunTaskReplyInput, _skein_worker_v1_RunTaskReply>
        RunTaskRequest: MessageTypeDefinition<_skein_worker_v1_RunTaskRequestInput, _skein_worker_v1_RunTaskRequest>
        TaskTime: MessageTypeDefinition<_skein_worker_v1_TaskTimeInput, _skein_worker_v1_TaskTime>
        WantedKey: MessageTypeDefinition<_skein_worker_v1_WantedKeyInput, _skein_worker_v1_WantedKey>
        Worker: SubtypeConstructor<typeof grpc.Client, _skein_worker_v1_WorkerClient> & { service: _skein_worker_v1_WorkerDefinition }
        WorkerBeat: MessageTypeDefinition<_skein_worker_v1_WorkerBeatInput, _skein_worker_v1_WorkerBeat>
      }
    }
  }
}

