// Original file: worker.proto


export interface EndQueryRequestInput {
  readonly query_id?: (string);
}

export interface EndQueryRequest {
  readonly query_id: (string);
}
