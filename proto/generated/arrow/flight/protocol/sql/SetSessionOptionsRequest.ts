// Original file: flight-sql.proto

import type { SessionOptionValueInput as _arrow_flight_protocol_sql_SessionOptionValueInput, SessionOptionValue as _arrow_flight_protocol_sql_SessionOptionValue } from '../../../../arrow/flight/protocol/sql/SessionOptionValue.ts';

export interface SetSessionOptionsRequestInput {
  readonly session_options?: ({[key: string]: _arrow_flight_protocol_sql_SessionOptionValueInput});
}

export interface SetSessionOptionsRequest {
  readonly session_options: ({[key: string]: _arrow_flight_protocol_sql_SessionOptionValue});
}
