// Original file: member.proto


export interface WayInput {
  readonly kind?: (string);
  readonly address?: (string);
  readonly problem?: (string);
}

export interface Way {
  readonly kind: (string);
  readonly address: (string);
  readonly problem: (string);
}
