// Original file: worker.proto


export interface RenewKeyReplyInput {
  readonly found?: (boolean);
}

export interface RenewKeyReply {
  readonly found: (boolean);
}
