// Original file: flight-sql.proto


export interface ErrorInfoInput {
  readonly reason?: (string);
  readonly domain?: (string);
  readonly metadata?: ({[key: string]: string});
}

export interface ErrorInfo {
  readonly reason: (string);
  readonly domain: (string);
  readonly metadata: ({[key: string]: string});
}
