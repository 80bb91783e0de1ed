// Original file: flight-sql.proto

import type { FlightEndpointInput as _arrow_flight_protocol_FlightEndpointInput, FlightEndpoint as _arrow_flight_protocol_FlightEndpoint } from '../../../../arrow/flight/protocol/FlightEndpoint.ts';

export interface RenewFlightEndpointRequestInput {
  readonly endpoint?: (_arrow_flight_protocol_FlightEndpointInput | null);
}

export interface RenewFlightEndpointRequest {
  readonly endpoint: (_arrow_flight_protocol_FlightEndpoint | null);
}
