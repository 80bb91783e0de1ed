// Original file: flight-sql.proto


export interface _arrow_flight_protocol_sql_SetSessionOptionsResult_ErrorInput {
  readonly value?: (_arrow_flight_protocol_sql_SetSessionOptionsResult_ErrorValueInput);
}

export interface _arrow_flight_protocol_sql_SetSessionOptionsResult_Error {
  readonly value: (_arrow_flight_protocol_sql_SetSessionOptionsResult_ErrorValue);
}

// Original file: flight-sql.proto

export const _arrow_flight_protocol_sql_SetSessionOptionsResult_ErrorValue = {
  UNSPECIFIED: 'UNSPECIFIED',
  INVALID_NAME: 'INVALID_NAME',
  INVALID_VALUE: 'INVALID_VALUE',
  ERROR: 'ERROR',
} as const;

export type _arrow_flight_protocol_sql_SetSessionOptionsResult_ErrorValueInput =
  | 'UNSPECIFIED'
  | 0
  | 'INVALID_NAME'
  | 1
  | 'INVALID_VALUE'
  | 2
  | 'ERROR'
  | 3

export type _arrow_flight_protocol_sql_SetSessionOptionsResult_ErrorValue = typeof _arrow_flight_protocol_sql_SetSessionOptionsResult_ErrorValue[keyof typeof _arrow_flight_protocol_sql_SetSessionOptionsResult_ErrorValue]

export interface SetSessionOptionsResultInput {
  readonly errors?: ({[key: string]: _arrow_flight_protocol_sql_SetSessionOptionsResult_ErrorInput});
}

export interface SetSessionOptionsResult {
  readonly errors: ({[key: string]: _arrow_flight_protocol_sql_SetSessionOptionsResult_Error});
}
