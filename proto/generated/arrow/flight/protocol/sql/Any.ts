// Original file: flight-sql.proto


export interface AnyInput {
  readonly type_url?: (string);
  readonly value?: (Buffer | Uint8Array | string);
}

export interface Any {
  readonly type_url: (string);
  readonly value: (Buffer);
}
