// Original file: flight.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { FlightDataInput as _arrow_flight_protocol_FlightDataInput, FlightData as _arrow_flight_protocol_FlightData } from '../../../arrow/flight/protocol/FlightData.ts';
import type { TicketInput as _arrow_flight_protocol_TicketInput, Ticket as _arrow_flight_protocol_Ticket } from '../../../arrow/flight/protocol/Ticket.ts';

export interface FlightServiceClient extends grpc.Client {
  DoGet(argument: _arrow_flight_protocol_TicketInput, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_arrow_flight_protocol_FlightData>;
  DoGet(argument: _arrow_flight_protocol_TicketInput, options?: grpc.CallOptions): grpc.ClientReadableStream<_arrow_flight_protocol_FlightData>;
  doGet(argument: _arrow_flight_protocol_TicketInput, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_arrow_flight_protocol_FlightData>;
  doGet(argument: _arrow_flight_protocol_TicketInput, options?: grpc.CallOptions): grpc.ClientReadableStream<_arrow_flight_protocol_FlightData>;
  
}

export interface FlightServiceHandlers extends grpc.UntypedServiceImplementation {
  DoGet: grpc.handleServerStreamingCall<_arrow_flight_protocol_Ticket, _arrow_flight_protocol_FlightDataInput>;
  
}

export interface FlightServiceDefinition extends grpc.ServiceDefinition {
  DoGet: MethodDefinition<_arrow_flight_protocol_TicketInput, _arrow_flight_protocol_FlightDataInput, _arrow_flight_protocol_Ticket, _arrow_flight_protocol_FlightData>
}
