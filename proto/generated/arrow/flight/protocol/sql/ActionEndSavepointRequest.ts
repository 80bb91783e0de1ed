// Original file: flight-sql.proto


// Original file: flight-sql.proto

export const _arrow_flight_protocol_sql_ActionEndSavepointRequest_EndSavepoint = {
  END_SAVEPOINT_UNSPECIFIED: 'END_SAVEPOINT_UNSPECIFIED',
  END_SAVEPOINT_RELEASE: 'END_SAVEPOINT_RELEASE',
  END_SAVEPOINT_ROLLBACK: 'END_SAVEPOINT_ROLLBACK',
} as const;

export type _arrow_flight_protocol_sql_ActionEndSavepointRequest_EndSavepointInput =
  | 'END_SAVEPOINT_UNSPECIFIED'
  | 0
  | 'END_SAVEPOINT_RELEASE'
  | 1
  | 'END_SAVEPOINT_ROLLBACK'
  | 2

export type _arrow_flight_protocol_sql_ActionEndSavepointRequest_EndSavepoint = typeof _arrow_flight_protocol_sql_ActionEndSavepointRequest_EndSavepoint[keyof typeof _arrow_flight_protocol_sql_ActionEndSavepointRequest_EndSavepoint]

export interface ActionEndSavepointRequestInput {
  readonly savepoint_id?: (Buffer | Uint8Array | string);
  readonly action?: (_arrow_flight_protocol_sql_ActionEndSavepointRequest_EndSavepointInput);
}

export interface ActionEndSavepointRequest {
  readonly savepoint_id: (Buffer);
  readonly action: (_arrow_flight_protocol_sql_ActionEndSavepointRequest_EndSavepoint);
}
