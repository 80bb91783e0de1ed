// Original file: worker.proto


export interface CancelTaskReplyInput {
  readonly found?: (boolean);
  readonly bytes_scanned?: (number | string);
}

export interface CancelTaskReply {
  readonly found: (boolean);
  readonly bytes_scanned: (number);
}
