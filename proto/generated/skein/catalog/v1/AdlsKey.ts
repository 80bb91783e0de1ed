// Original file: catalog.proto


export interface AdlsKeyInput {
  readonly sas?: (string);
}

export interface AdlsKey {
  readonly sas: (string);
}
