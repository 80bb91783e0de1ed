// Original file: flight.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { ActionInput as _arrow_flight_protocol_ActionInput, Action as _arrow_flight_protocol_Action } from '../../../arrow/flight/protocol/Action.ts';
import type { ActionTypeInput as _arrow_flight_protocol_ActionTypeInput, ActionType as _arrow_flight_protocol_ActionType } from '../../../arrow/flight/protocol/ActionType.ts';
import type { CriteriaInput as _arrow_flight_protocol_CriteriaInput, Criteria as _arrow_flight_protocol_Criteria } from '../../../arrow/flight/protocol/Criteria.ts';
import type { EmptyInput as _arrow_flight_protocol_EmptyInput, Empty as _arrow_flight_protocol_Empty } from '../../../arrow/flight/protocol/Empty.ts';
import type { FlightDataInput as _arrow_flight_protocol_FlightDataInput, FlightData as _arrow_flight_protocol_FlightData } from '../../../arrow/flight/protocol/FlightData.ts';
import type { FlightDescriptorInput as _arrow_flight_protocol_FlightDescriptorInput, FlightDescriptor as _arrow_flight_protocol_FlightDescriptor } from '../../../arrow/flight/protocol/FlightDescriptor.ts';
import type { FlightInfoInput as _arrow_flight_protocol_FlightInfoInput, FlightInfo as _arrow_flight_protocol_FlightInfo } from '../../../arrow/flight/protocol/FlightInfo.ts';
import type { HandshakeRequestInput as _arrow_flight_protocol_HandshakeRequestInput, HandshakeRequest as _arrow_flight_protocol_HandshakeRequest } from '../../../arrow/flight/protocol/HandshakeRequest.ts';
import type { HandshakeResponseInput as _arrow_flight_protocol_HandshakeResponseInput, HandshakeResponse as _arrow_flight_protocol_HandshakeResponse } from '../../../arrow/flight/protocol/HandshakeResponse.ts';
import type { PollInfoInput as _arrow_flight_protocol_PollInfoInput, PollInfo as _arrow_flight_protocol_PollInfo } from '../../../arrow/flight/protocol/PollInfo.ts';
import type { PutResultInput as _arrow_flight_protocol_PutResultInput, PutResult as _arrow_flight_protocol_PutResult } from '../../../arrow/flight/protocol/PutResult.ts';
import type { ResultInput as _arrow_flight_protocol_ResultInput, Result as _arrow_flight_protocol_Result } from '../../../arrow/flight/protocol/Result.ts';
import type { SchemaResultInput as _arrow_flight_protocol_SchemaResultInput, SchemaResult as _arrow_flight_protocol_SchemaResult } from '../../../arrow/flight/protocol/SchemaResult.ts';
import type { TicketInput as _arrow_flight_protocol_TicketInput, Ticket as _arrow_flight_protocol_Ticket } from '../../../arrow/flight/protocol/Ticket.ts';

export interface FlightServiceClient extends grpc.Client {
  DoAction(argument: _arrow_flight_protocol_ActionInput, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_arrow_flight_protocol_Result>;
  DoAction(argument: _arrow_flight_protocol_ActionInput, options?: grpc.CallOptions): grpc.ClientReadableStream<_arrow_flight_protocol_Result>;
  doAction(argument: _arrow_flight_protocol_ActionInput, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_arrow_flight_protocol_Result>;
  doAction(argument: _arrow_flight_protocol_ActionInput, options?: grpc.CallOptions): grpc.ClientReadableStream<_arrow_flight_protocol_Result>;
  
  DoExchange(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_arrow_flight_protocol_FlightDataInput, _arrow_flight_protocol_FlightData>;
  DoExchange(options?: grpc.CallOptions): grpc.ClientDuplexStream<_arrow_flight_protocol_FlightDataInput, _arrow_flight_protocol_FlightData>;
  doExchange(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_arrow_flight_protocol_FlightDataInput, _arrow_flight_protocol_FlightData>;
  doExchange(options?: grpc.CallOptions): grpc.ClientDuplexStream<_arrow_flight_protocol_FlightDataInput, _arrow_flight_protocol_FlightData>;
  
  DoGet(argument: _arrow_flight_protocol_TicketInput, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_arrow_flight_protocol_FlightData>;
  DoGet(argument: _arrow_flight_protocol_TicketInput, options?: grpc.CallOptions): grpc.ClientReadableStream<_arrow_flight_protocol_FlightData>;
  doGet(argument: _arrow_flight_protocol_TicketInput, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_arrow_flight_protocol_FlightData>;
  doGet(argument: _arrow_flight_protocol_TicketInput, options?: grpc.CallOptions): grpc.ClientReadableStream<_arrow_flight_protocol_FlightData>;
  
  DoPut(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_arrow_flight_protocol_FlightDataInput, _arrow_flight_protocol_PutResult>;
  DoPut(options?: grpc.CallOptions): grpc.ClientDuplexStream<_arrow_flight_protocol_FlightDataInput, _arrow_flight_protocol_PutResult>;
  doPut(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_arrow_flight_protocol_FlightDataInput, _arrow_flight_protocol_PutResult>;
  doPut(options?: grpc.CallOptions): grpc.ClientDuplexStream<_arrow_flight_protocol_FlightDataInput, _arrow_flight_protocol_PutResult>;
  
  GetFlightInfo(argument: _arrow_flight_protocol_FlightDescriptorInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_arrow_flight_protocol_FlightInfo>): grpc.ClientUnaryCall;
  GetFlightInfo(argument: _arrow_flight_protocol_FlightDescriptorInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_arrow_flight_protocol_FlightInfo>): grpc.ClientUnaryCall;
  GetFlightInfo(argument: _arrow_flight_protocol_FlightDescriptorInput, options: grpc.CallOptions, callback: grpc.requestCallback<_arrow_flight_protocol_FlightInfo>): grpc.ClientUnaryCall;
  GetFlightInfo(argument: _arrow_flight_protocol_FlightDescriptorInput, callback: grpc.requestCallback<_arrow_flight_protocol_FlightInfo>): grpc.ClientUnaryCall;
  getFlightInfo(argument: _arrow_flight_protocol_FlightDescriptorInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_arrow_flight_protocol_FlightInfo>): grpc.ClientUnaryCall;
  getFlightInfo(argument: _arrow_flight_protocol_FlightDescriptorInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_arrow_flight_protocol_FlightInfo>): grpc.ClientUnaryCall;
  getFlightInfo(argument: _arrow_flight_protocol_FlightDescriptorInput, options: grpc.CallOptions, callback: grpc.requestCallback<_arrow_flight_protocol_FlightInfo>): grpc.ClientUnaryCall;
  getFlightInfo(argument: _arrow_flight_protocol_FlightDescriptorInput, callback: grpc.requestCallback<_arrow_flight_protocol_FlightInfo>): grpc.ClientUnaryCall;
  
  GetSchema(argument: _arrow_flight_protocol_FlightDescriptorInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_arrow_flight_protocol_SchemaResult>): grpc.ClientUnaryCall;
  GetSchema(argument: _arrow_flight_protocol_FlightDescriptorInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_arrow_flight_protocol_SchemaResult>): grpc.ClientUnaryCall;
  GetSchema(argument: _arrow_flight_protocol_FlightDescriptorInput, options: grpc.CallOptions, callback: grpc.requestCallback<_arrow_flight_protocol_SchemaResult>): grpc.ClientUnaryCall;
  GetSchema(argument: _arrow_flight_protocol_FlightDescriptorInput, callback: grpc.requestCallback<_arrow_flight_protocol_SchemaResult>): grpc.ClientUnaryCall;
  getSchema(argument: _arrow_flight_protocol_FlightDescriptorInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_arrow_flight_protocol_SchemaResult>): grpc.ClientUnaryCall;
  getSchema(argument: _arrow_flight_protocol_FlightDescriptorInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_arrow_flight_protocol_SchemaResult>): grpc.ClientUnaryCall;
  getSchema(argument: _arrow_flight_protocol_FlightDescriptorInput, options: grpc.CallOptions, callback: grpc.requestCallback<_arrow_flight_protocol_SchemaResult>): grpc.ClientUnaryCall;
  getSchema(argument: _arrow_flight_protocol_FlightDescriptorInput, callback: grpc.requestCallback<_arrow_flight_protocol_SchemaResult>): grpc.ClientUnaryCall;
  
  Handshake(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_arrow_flight_protocol_HandshakeRequestInput, _arrow_flight_protocol_HandshakeResponse>;
  Handshake(options?: grpc.CallOptions): grpc.ClientDuplexStream<_arrow_flight_protocol_HandshakeRequestInput, _arrow_flight_protocol_HandshakeResponse>;
  handshake(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_arrow_flight_protocol_HandshakeRequestInput, _arrow_flight_protocol_HandshakeResponse>;
  handshake(options?: grpc.CallOptions): grpc.ClientDuplexStream<_arrow_flight_protocol_HandshakeRequestInput, _arrow_flight_protocol_HandshakeResponse>;
  
  ListActions(argument: _arrow_flight_protocol_EmptyInput, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_arrow_flight_protocol_ActionType>;
  ListActions(argument: _arrow_flight_protocol_EmptyInput, options?: grpc.CallOptions): grpc.ClientReadableStream<_arrow_flight_protocol_ActionType>;
  listActions(argument: _arrow_flight_protocol_EmptyInput, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_arrow_flight_protocol_ActionType>;
  listActions(argument: _arrow_flight_protocol_EmptyInput, options?: grpc.CallOptions): grpc.ClientReadableStream<_arrow_flight_protocol_ActionType>;
  
  ListFlights(argument: _arrow_flight_protocol_CriteriaInput, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_arrow_flight_protocol_FlightInfo>;
  ListFlights(argument: _arrow_flight_protocol_CriteriaInput, options?: grpc.CallOptions): grpc.ClientReadableStream<_arrow_flight_protocol_FlightInfo>;
  listFlights(argument: _arrow_flight_protocol_CriteriaInput, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_arrow_flight_protocol_FlightInfo>;
  listFlights(argument: _arrow_flight_protocol_CriteriaInput, options?: grpc.CallOptions): grpc.ClientReadableStream<_arrow_flight_protocol_FlightInfo>;
  
  PollFlightInfo(argument: _arrow_flight_protocol_FlightDescriptorInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_arrow_flight_protocol_PollInfo>): grpc.ClientUnaryCall;
  PollFlightInfo(argument: _arrow_flight_protocol_FlightDescriptorInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_arrow_flight_protocol_PollInfo>): grpc.ClientUnaryCall;
  PollFlightInfo(argument: _arrow_flight_protocol_FlightDescriptorInput, options: grpc.CallOptions, callback: grpc.requestCallback<_arrow_flight_protocol_PollInfo>): grpc.ClientUnaryCall;
  PollFlightInfo(argument: _arrow_flight_protocol_FlightDescriptorInput, callback: grpc.requestCallback<_arrow_flight_protocol_PollInfo>): grpc.ClientUnaryCall;
  pollFlightInfo(argument: _arrow_flight_protocol_FlightDescriptorInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_arrow_flight_protocol_PollInfo>): grpc.ClientUnaryCall;
  pollFlightInfo(argument: _arrow_flight_protocol_FlightDescriptorInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_arrow_flight_protocol_PollInfo>): grpc.ClientUnaryCall;
  pollFlightInfo(argument: _arrow_flight_protocol_FlightDescriptorInput, options: grpc.CallOptions, callback: grpc.requestCallback<_arrow_flight_protocol_PollInfo>): grpc.ClientUnaryCall;
  pollFlightInfo(argument: _arrow_flight_protocol_FlightDescriptorInput, callback: grpc.requestCallback<_arrow_flight_protocol_PollInfo>): grpc.ClientUnaryCall;
  
}

export interface FlightServiceHandlers extends grpc.UntypedServiceImplementation {
  DoAction: grpc.handleServerStreamingCall<_arrow_flight_protocol_Action, _arrow_flight_protocol_ResultInput>;
  
  DoExchange: grpc.handleBidiStreamingCall<_arrow_flight_protocol_FlightData, _arrow_flight_protocol_FlightDataInput>;
  
  DoGet: grpc.handleServerStreamingCall<_arrow_flight_protocol_Ticket, _arrow_flight_protocol_FlightDataInput>;
  
  DoPut: grpc.handleBidiStreamingCall<_arrow_flight_protocol_FlightData, _arrow_flight_protocol_PutResultInput>;
  
  GetFlightInfo: grpc.handleUnaryCall<_arrow_flight_protocol_FlightDescriptor, _arrow_flight_protocol_FlightInfoInput>;
  
  GetSchema: grpc.handleUnaryCall<_arrow_flight_protocol_FlightDescriptor, _arrow_flight_protocol_SchemaResultInput>;
  
  Handshake: grpc.handleBidiStreamingCall<_arrow_flight_protocol_HandshakeRequest, _arrow_flight_protocol_HandshakeResponseInput>;
  
  ListActions: grpc.handleServerStreamingCall<_arrow_flight_protocol_Empty, _arrow_flight_protocol_ActionTypeInput>;
  
  ListFlights: grpc.handleServerStreamingCall<_arrow_flight_protocol_Criteria, _arrow_flight_protocol_FlightInfoInput>;
  
  PollFlightInfo: grpc.handleUnaryCall<_arrow_flight_protocol_FlightDescriptor, _arrow_flight_protocol_PollInfoInput>;
  
}

export interface FlightServiceDefinition extends grpc.ServiceDefinition {
  DoAction: MethodDefinition<_arrow_flight_protocol_ActionInput, _arrow_flight_protocol_ResultInput, _arrow_flight_protocol_Action, _arrow_flight_protocol_Result>
  DoExchange: MethodDefinition<_arrow_flight_protocol_FlightDataInput, _arrow_flight_protocol_FlightDataInput, _arrow_flight_protocol_FlightData, _arrow_flight_protocol_FlightData>
  DoGet: MethodDefinition<_arrow_flight_protocol_TicketInput, _arrow_flight_protocol_FlightDataInput, _arrow_flight_protocol_Ticket, _arrow_flight_protocol_FlightData>
  DoPut: MethodDefinition<_arrow_flight_protocol_FlightDataInput, _arrow_flight_protocol_PutResultInput, _arrow_flight_protocol_FlightData, _arrow_flight_protocol_PutResult>
  GetFlightInfo: MethodDefinition<_arrow_flight_protocol_FlightDescriptorInput, _arrow_flight_protocol_FlightInfoInput, _arrow_flight_protocol_FlightDescriptor, _arrow_flight_protocol_FlightInfo>
  GetSchema: MethodDefinition<_arrow_flight_protocol_FlightDescriptorInput, _arrow_flight_protocol_SchemaResultInput, _arrow_flight_protocol_FlightDescriptor, _arrow_flight_protocol_SchemaResult>
  Handshake: MethodDefinition<_arrow_flight_protocol_HandshakeRequestInput, _arrow_flight_protocol_HandshakeResponseInput, _arrow_flight_protocol_HandshakeRequest, _arrow_flight_protocol_HandshakeResponse>
  ListActions: MethodDefinition<_arrow_flight_protocol_EmptyInput, _arrow_flight_protocol_ActionTypeInput, _arrow_flight_protocol_Empty, _arrow_flight_protocol_ActionType>
  ListFlights: MethodDefinition<_arrow_flight_protocol_CriteriaInput, _arrow_flight_protocol_FlightInfoInput, _arrow_flight_protocol_Criteria, _arrow_flight_protocol_FlightInfo>
  PollFlightInfo: MethodDefinition<_arrow_flight_protocol_FlightDescriptorInput, _arrow_flight_protocol_PollInfoInput, _arrow_flight_protocol_FlightDescriptor, _arrow_flight_protocol_PollInfo>
}
