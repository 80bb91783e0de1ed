// Original file: flight.proto


export interface LocationInput {
  readonly uri?: (string);
}

export interface Location {
  readonly uri: (string);
}
