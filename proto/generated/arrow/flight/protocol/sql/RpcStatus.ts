// Original file: flight-sql.proto

import type { AnyInput as _arrow_flight_protocol_sql_AnyInput, Any as _arrow_flight_protocol_sql_Any } from '../../../../arrow/flight/protocol/sql/Any.ts';

export interface RpcStatusInput {
  readonly code?: (number);
  readonly message?: (string);
  readonly details?: readonly (_arrow_flight_protocol_sql_AnyInput)[];
}

export interface RpcStatus {
  readonly code: (number);
  readonly message: (string);
  readonly details: readonly (_arrow_flight_protocol_sql_Any)[];
}
