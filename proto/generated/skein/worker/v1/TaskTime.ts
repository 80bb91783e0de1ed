// Original file: worker.proto


export interface TaskTimeInput {
  readonly query_id?: (string);
  readonly task_id?: (string);
  readonly scheduled_ms?: (number | string);
  readonly bytes_scanned?: (number | string);
}

export interface TaskTime {
  readonly query_id: (string);
  readonly task_id: (string);
  readonly scheduled_ms: (number);
  readonly bytes_scanned: (number);
}
