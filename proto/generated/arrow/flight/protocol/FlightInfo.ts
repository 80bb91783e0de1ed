// Original file: flight.proto

import type { FlightDescriptorInput as _arrow_flight_protocol_FlightDescriptorInput, FlightDescriptor as _arrow_flight_protocol_FlightDescriptor } from '../../../arrow/flight/protocol/FlightDescriptor.ts';
import type { FlightEndpointInput as _arrow_flight_protocol_FlightEndpointInput, FlightEndpoint as _arrow_flight_protocol_FlightEndpoint } from '../../../arrow/flight/protocol/FlightEndpoint.ts';
import type { Long } from '@grpc/proto-loader';

export interface FlightInfoInput {
  readonly schema?: (Buffer | Uint8Array | string);
  readonly flight_descriptor?: (_arrow_flight_protocol_FlightDescriptorInput | null);
  readonly endpoint?: readonly (_arrow_flight_protocol_FlightEndpointInput)[];
  readonly total_records?: (number | string | Long);
  readonly total_bytes?: (number | string | Long);
  readonly ordered?: (boolean);
  readonly app_metadata?: (Buffer | Uint8Array | string);
}

export interface FlightInfo {
  readonly schema: (Buffer);
  readonly flight_descriptor: (_arrow_flight_protocol_FlightDescriptor | null);
  readonly endpoint: readonly (_arrow_flight_protocol_FlightEndpoint)[];
  readonly total_records: (string);
  readonly total_bytes: (string);
  readonly ordered: (boolean);
  readonly app_metadata: (Buffer);
}
