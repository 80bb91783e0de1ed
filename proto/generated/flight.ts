import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { FlightDataInput as _arrow_flight_protocol_FlightDataInput, FlightData as _arrow_flight_protocol_FlightData } from './arrow/flight/protocol/FlightData.ts';
import type { FlightDescriptorInput as _arrow_flight_protocol_FlightDescriptorInput, FlightDescriptor as _arrow_flight_protocol_FlightDescriptor } from './arrow/flight/protocol/FlightDescriptor.ts';
import type { FlightServiceClient as _arrow_flight_protocol_FlightServiceClient, FlightServiceDefinition as _arrow_flight_protocol_FlightServiceDefinition } from './arrow/flight/protocol/FlightService.ts';
import type { TicketInput as _arrow_flight_protocol_TicketInput, Ticket as _arrow_flight_protocol_Ticket } from './arrow/flight/protocol/Ticket.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  arrow: {
    flight: {
      protocol: {
        FlightData: MessageTypeDefinition<_arrow_flight_protocol_FlightDataInput, _arrow_flight_protocol_FlightData>
        FlightDescriptor: MessageTypeDefinition<_arrow_flight_protocol_FlightDescriptorInput, _arrow_flight_protocol_FlightDescriptor>
        FlightService: SubtypeConstructor<typeof grpc.Client, _arrow_flight_protocol_FlightServiceClient> & { service: _arrow_flight_protocol_FlightServiceDefinition }
        Ticket: MessageTypeDefinition<_arrow_flight_protocol_TicketInput, _arrow_flight_protocol_Ticket>
      }
    }
  }
}

