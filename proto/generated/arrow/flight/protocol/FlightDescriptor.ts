// Original file: flight.proto


// Original file: flight.proto

export const _arrow_flight_protocol_FlightDescriptor_DescriptorType = {
  UNKNOWN: 'UNKNOWN',
  PATH: 'PATH',
  CMD: 'CMD',
} as const;

export type _arrow_flight_protocol_FlightDescriptor_DescriptorTypeInput =
  | 'UNKNOWN'
  | 0
  | 'PATH'
  | 1
  | 'CMD'
  | 2

export type _arrow_flight_protocol_FlightDescriptor_DescriptorType = typeof _arrow_flight_protocol_FlightDescriptor_DescriptorType[keyof typeof _arrow_flight_protocol_FlightDescriptor_DescriptorType]

export interface FlightDescriptorInput {
  readonly type?: (_arrow_flight_protocol_FlightDescriptor_DescriptorTypeInput);
  readonly cmd?: (Buffer | Uint8Array | string);
  readonly path?: readonly (string)[];
}

export interface FlightDescriptor {
  readonly type: (_arrow_flight_protocol_FlightDescriptor_DescriptorType);
  readonly cmd: (Buffer);
  readonly path: readonly (string)[];
}
