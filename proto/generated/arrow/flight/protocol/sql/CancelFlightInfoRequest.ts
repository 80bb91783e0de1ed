// Original file: flight-sql.proto

import type { FlightInfoInput as _arrow_flight_protocol_FlightInfoInput, FlightInfo as _arrow_flight_protocol_FlightInfo } from '../../../../arrow/flight/protocol/FlightInfo.ts';

export interface CancelFlightInfoRequestInput {
  readonly info?: (_arrow_flight_protocol_FlightInfoInput | null);
}

export interface CancelFlightInfoRequest {
  readonly info: (_arrow_flight_protocol_FlightInfo | null);
}
