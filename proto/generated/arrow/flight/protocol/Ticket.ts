// Original file: flight.proto


export interface TicketInput {
  readonly ticket?: (Buffer | Uint8Array | string);
}

export interface Ticket {
  readonly ticket: (Buffer);
}
