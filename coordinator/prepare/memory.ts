/** The values of one kind. A value belongs to the owner who set it. */
export type Memory<Value> = {
  readonly get: (key: string) => Value | undefined;
  readonly set: (owner: string, key: string, value: Value) => void;
};
