// Original file: catalog.proto


export interface RetryJobsRequestInput {
  readonly id?: (string);
}

export interface RetryJobsRequest {
  readonly id: (string);
}
