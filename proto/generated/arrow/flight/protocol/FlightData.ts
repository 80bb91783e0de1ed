// Original file: flight.proto

import type { FlightDescriptorInput as _arrow_flight_protocol_FlightDescriptorInput, FlightDescriptor as _arrow_flight_protocol_FlightDescriptor } from '../../../arrow/flight/protocol/FlightDescriptor.ts';

export interface FlightDataInput {
  readonly flight_descriptor?: (_arrow_flight_protocol_FlightDescriptorInput | null);
  readonly data_header?: (Buffer | Uint8Array | string);
  readonly app_metadata?: (Buffer | Uint8Array | string);
  readonly data_body?: (Buffer | Uint8Array | string);
}

export interface FlightData {
  readonly flight_descriptor: (_arrow_flight_protocol_FlightDescriptor | null);
  readonly data_header: (Buffer);
  readonly app_metadata: (Buffer);
  readonly data_body: (Buffer);
}
