import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { ActionInput as _arrow_flight_protocol_ActionInput, Action as _arrow_flight_protocol_Action } from './arrow/flight/protocol/Action.ts';
import type { ActionTypeInput as _arrow_flight_protocol_ActionTypeInput, ActionType as _arrow_flight_protocol_ActionType } from './arrow/flight/protocol/ActionType.ts';
import type { CriteriaInput as _arrow_flight_protocol_CriteriaInput, Criteria as _arrow_flight_protocol_Criteria } from './arrow/flight/protocol/Criteria.ts';
import type { EmptyInput as _arrow_flight_protocol_EmptyInput, Empty as _arrow_flight_protocol_Empty } from './arrow/flight/protocol/Empty.ts';
import type { FlightDataInput as _arrow_flight_protocol_FlightDataInput, FlightData as _arrow_flight_protocol_FlightData } from './arrow/flight/protocol/FlightData.ts';
import type { FlightDescriptorInput as _arrow_flight_protocol_FlightDescriptorInput, FlightDescriptor as _arrow_flight_protocol_FlightDescriptor } from './arrow/flight/protocol/FlightDescriptor.ts';
import type { FlightEndpointInput as _arrow_flight_protocol_FlightEndpointInput, FlightEndpoint as _arrow_flight_protocol_FlightEndpoint } from './arrow/flight/protocol/FlightEndpoint.ts';
import type { FlightInfoInput as _arrow_flight_protocol_FlightInfoInput, FlightInfo as _arrow_flight_protocol_FlightInfo } from './arrow/flight/protocol/FlightInfo.ts';
import type { FlightServiceClient as _arrow_flight_protocol_FlightServiceClient, FlightServiceDefinition as _arrow_flight_protocol_FlightServiceDefinition } from './arrow/flight/protocol/FlightService.ts';
import type { HandshakeRequestInput as _arrow_flight_protocol_HandshakeRequestInput, HandshakeRequest as _arrow_flight_protocol_HandshakeRequest } from './arrow/flight/protocol/HandshakeRequest.ts';
import type { HandshakeResponseInput as _arrow_flight_protocol_HandshakeResponseInput, HandshakeResponse as _arrow_flight_protocol_HandshakeResponse } from './arrow/flight/protocol/HandshakeResponse.ts';
import type { LocationInput as _arrow_flight_protocol_LocationInput, Location as _arrow_flight_protocol_Location } from './arrow/flight/protocol/Location.ts';
import type { PollInfoInput as _arrow_flight_protocol_PollInfoInput, PollInfo as _arrow_flight_protocol_PollInfo } from './arrow/flight/protocol/PollInfo.ts';
import type { PutResultInput as _arrow_flight_protocol_PutResultInput, PutResult as _arrow_flight_protocol_PutResult } from './arrow/flight/protocol/PutResult.ts';
import type { ResultInput as _arrow_flight_protocol_ResultInput, Result as _arrow_flight_protocol_Result } from './arrow/flight/protocol/Result.ts';
import type { SchemaResultInput as _arrow_flight_protocol_SchemaResultInput, SchemaResult as _arrow_flight_protocol_SchemaResult } from './arrow/flight/protocol/SchemaResult.ts';
import type { TicketInput as _arrow_flight_protocol_TicketInput, Ticket as _arrow_flight_protocol_Ticket } from './arrow/flight/protocol/Ticket.ts';
import type { TimestampInput as _google_protobuf_TimestampInput, Timestamp as _google_protobuf_Timestamp } from './google/protobuf/Timestamp.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  arrow: {
    flight: {
      protocol: {
        Action: MessageTypeDefinition<_arrow_flight_protocol_ActionInput, _arrow_flight_protocol_Action>
        ActionType: MessageTypeDefinition<_arrow_flight_protocol_ActionTypeInput, _arrow_flight_protocol_ActionType>
        Criteria: MessageTypeDefinition<_arrow_flight_protocol_CriteriaInput, _arrow_flight_protocol_Criteria>
        Empty: MessageTypeDefinition<_arrow_flight_protocol_EmptyInput, _arrow_flight_protocol_Empty>
        FlightData: MessageTypeDefinition<_arrow_flight_protocol_FlightDataInput, _arrow_flight_protocol_FlightData>
        FlightDescriptor: MessageTypeDefinition<_arrow_flight_protocol_FlightDescriptorInput, _arrow_flight_protocol_FlightDescriptor>
        FlightEndpoint: MessageTypeDefinition<_arrow_flight_protocol_FlightEndpointInput, _arrow_flight_protocol_FlightEndpoint>
        FlightInfo: MessageTypeDefinition<_arrow_flight_protocol_FlightInfoInput, _arrow_flight_protocol_FlightInfo>
        FlightService: SubtypeConstructor<typeof grpc.Client, _arrow_flight_protocol_FlightServiceClient> & { service: _arrow_flight_protocol_FlightServiceDefinition }
        HandshakeRequest: MessageTypeDefinition<_arrow_flight_protocol_HandshakeRequestInput, _arrow_flight_protocol_HandshakeRequest>
        HandshakeResponse: MessageTypeDefinition<_arrow_flight_protocol_HandshakeResponseInput, _arrow_flight_protocol_HandshakeResponse>
        Location: MessageTypeDefinition<_arrow_flight_protocol_LocationInput, _arrow_flight_protocol_Location>
        PollInfo: MessageTypeDefinition<_arrow_flight_protocol_PollInfoInput, _arrow_flight_protocol_PollInfo>
        PutResult: MessageTypeDefinition<_arrow_flight_protocol_PutResultInput, _arrow_flight_protocol_PutResult>
        Result: MessageTypeDefinition<_arrow_flight_protocol_ResultInput, _arrow_flight_protocol_Result>
        SchemaResult: MessageTypeDefinition<_arrow_flight_protocol_SchemaResultInput, _arrow_flight_protocol_SchemaResult>
        Ticket: MessageTypeDefinition<_arrow_flight_protocol_TicketInput, _arrow_flight_protocol_Ticket>
      }
    }
  }
  google: {
    protobuf: {
      Timestamp: MessageTypeDefinition<_google_protobuf_TimestampInput, _google_protobuf_Timestamp>
    }
  }
}

