// Original file: catalog.proto


export interface RetryJobsReplyInput {
  readonly jobs?: (number);
}

export interface RetryJobsReply {
  readonly jobs: (number);
}
