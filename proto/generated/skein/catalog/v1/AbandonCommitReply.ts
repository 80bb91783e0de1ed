// Original file: catalog.proto


export interface AbandonCommitReplyInput {
  readonly outcome?: (string);
}

export interface AbandonCommitReply {
  readonly outcome: (string);
}
