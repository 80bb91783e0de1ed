// Original file: worker.proto


export interface CancelTaskReplyInput {
  readonly found?: (boolean);
}

export interface CancelTaskReply {
  readonly found: (boolean);
}
