// Original file: catalog.proto


export interface FindLoadsReplyInput {
  readonly paths?: readonly (string)[];
}

export interface FindLoadsReply {
  readonly paths: readonly (string)[];
}
