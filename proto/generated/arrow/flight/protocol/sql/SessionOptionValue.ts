// Original file: flight-sql.proto

import type { Long } from '@grpc/proto-loader';

export interface _arrow_flight_protocol_sql_SessionOptionValue_StringListValueInput {
  readonly values?: readonly (string)[];
}

export interface _arrow_flight_protocol_sql_SessionOptionValue_StringListValue {
  readonly values: readonly (string)[];
}

export interface SessionOptionValueInput {
  readonly string_value?: (string);
  readonly bool_value?: (boolean);
  readonly int64_value?: (number | string | Long);
  readonly double_value?: (number | string);
  readonly string_list_value?: (_arrow_flight_protocol_sql_SessionOptionValue_StringListValueInput | null);
  readonly option_value?: "string_value"|"bool_value"|"int64_value"|"double_value"|"string_list_value";
}

export interface SessionOptionValue {
  readonly string_value?: (string);
  readonly bool_value?: (boolean);
  readonly int64_value?: (string);
  readonly double_value?: (number);
  readonly string_list_value?: (_arrow_flight_protocol_sql_SessionOptionValue_StringListValue | null);
  readonly option_value?: "string_value"|"bool_value"|"int64_value"|"double_value"|"string_list_value";
}
