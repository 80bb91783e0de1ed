// Original file: flight.proto

import type { FlightInfoInput as _arrow_flight_protocol_FlightInfoInput, FlightInfo as _arrow_flight_protocol_FlightInfo } from '../../../arrow/flight/protocol/FlightInfo.ts';
import type { FlightDescriptorInput as _arrow_flight_protocol_FlightDescriptorInput, FlightDescriptor as _arrow_flight_protocol_FlightDescriptor } from '../../../arrow/flight/protocol/FlightDescriptor.ts';
import type { TimestampInput as _google_protobuf_TimestampInput, Timestamp as _google_protobuf_Timestamp } from '../../../google/protobuf/Timestamp.ts';

export interface PollInfoInput {
  readonly info?: (_arrow_flight_protocol_FlightInfoInput | null);
  readonly flight_descriptor?: (_arrow_flight_protocol_FlightDescriptorInput | null);
  readonly progress?: (number | string);
  readonly expiration_time?: (_google_protobuf_TimestampInput | null);
  readonly _progress?: "progress";
}

export interface PollInfo {
  readonly info: (_arrow_flight_protocol_FlightInfo | null);
  readonly flight_descriptor: (_arrow_flight_protocol_FlightDescriptor | null);
  readonly progress?: (number);
  readonly expiration_time: (_google_protobuf_Timestamp | null);
  readonly _progress?: "progress";
}
