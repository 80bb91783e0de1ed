// Original file: worker.proto


export interface LostInputInput {
  readonly address?: (string);
  readonly task_id?: (string);
}

export interface LostInput {
  readonly address: (string);
  readonly task_id: (string);
}
