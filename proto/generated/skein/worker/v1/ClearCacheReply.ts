// Original file: worker.proto


export interface ClearCacheReplyInput {
  readonly bytes?: (number | string);
}

export interface ClearCacheReply {
  readonly bytes: (number);
}
