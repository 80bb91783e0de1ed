// Original file: catalog.proto


export interface PolicyArgumentInput {
  readonly name?: (string);
  readonly type?: (string);
  readonly field_id?: (number);
}

export interface PolicyArgument {
  readonly name: (string);
  readonly type: (string);
  readonly field_id: (number);
}
