// Original file: catalog.proto


export interface AbortUploadsReplyInput {
  readonly aborted?: (number);
}

export interface AbortUploadsReply {
  readonly aborted: (number);
}
