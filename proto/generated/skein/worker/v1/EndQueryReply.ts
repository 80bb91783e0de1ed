// Original file: worker.proto

import type { TaskTimeInput as _skein_worker_v1_TaskTimeInput, TaskTime as _skein_worker_v1_TaskTime } from '../../../skein/worker/v1/TaskTime.ts';

export interface EndQueryReplyInput {
  readonly tasks?: readonly (_skein_worker_v1_TaskTimeInput)[];
}

export interface EndQueryReply {
  readonly tasks: readonly (_skein_worker_v1_TaskTime)[];
}
