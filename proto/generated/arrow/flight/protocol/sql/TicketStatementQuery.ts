// Original file: flight-sql.proto


export interface TicketStatementQueryInput {
  readonly statement_handle?: (Buffer | Uint8Array | string);
}

export interface TicketStatementQuery {
  readonly statement_handle: (Buffer);
}
