// Original file: flight.proto

import type { TicketInput as _arrow_flight_protocol_TicketInput, Ticket as _arrow_flight_protocol_Ticket } from '../../../arrow/flight/protocol/Ticket.ts';
import type { LocationInput as _arrow_flight_protocol_LocationInput, Location as _arrow_flight_protocol_Location } from '../../../arrow/flight/protocol/Location.ts';
import type { TimestampInput as _google_protobuf_TimestampInput, Timestamp as _google_protobuf_Timestamp } from '../../../google/protobuf/Timestamp.ts';

export interface FlightEndpointInput {
  readonly ticket?: (_arrow_flight_protocol_TicketInput | null);
  readonly location?: readonly (_arrow_flight_protocol_LocationInput)[];
  readonly expiration_time?: (_google_protobuf_TimestampInput | null);
  readonly app_metadata?: (Buffer | Uint8Array | string);
}

export interface FlightEndpoint {
  readonly ticket: (_arrow_flight_protocol_Ticket | null);
  readonly location: readonly (_arrow_flight_protocol_Location)[];
  readonly expiration_time: (_google_protobuf_Timestamp | null);
  readonly app_metadata: (Buffer);
}
