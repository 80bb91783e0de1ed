// Original file: catalog.proto


export interface DroppedTableInput {
  readonly id?: (string);
  readonly namespace?: readonly (string)[];
  readonly name?: (string);
  readonly state?: (string);
  readonly dropped_at?: (string);
  readonly dropped_by?: (string);
  readonly expires_at?: (string);
  readonly purge?: (boolean);
  readonly error?: (string);
}

export interface DroppedTable {
  readonly id: (string);
  readonly namespace: readonly (string)[];
  readonly name: (string);
  readonly state: (string);
  readonly dropped_at: (string);
  readonly dropped_by: (string);
  readonly expires_at: (string);
  readonly purge: (boolean);
  readonly error: (string);
}
