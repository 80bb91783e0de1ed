// Original file: worker.proto


export interface CancelTaskRequestInput {
  readonly task_id?: (string);
  readonly code?: (string);
  readonly reason?: (string);
}

export interface CancelTaskRequest {
  readonly task_id: (string);
  readonly code: (string);
  readonly reason: (string);
}
