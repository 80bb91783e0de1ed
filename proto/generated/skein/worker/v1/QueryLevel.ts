// Original file: worker.proto


export interface QueryLevelInput {
  readonly query_id?: (string);
  readonly scheduled_ms?: (number | string);
  readonly pinned_to_top?: (boolean);
}

export interface QueryLevel {
  readonly query_id: (string);
  readonly scheduled_ms: (number);
  readonly pinned_to_top: (boolean);
}
