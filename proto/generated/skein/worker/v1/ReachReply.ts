// Original file: worker.proto


export interface ReachReplyInput {
  readonly reached?: (boolean);
}

export interface ReachReply {
  readonly reached: (boolean);
}
