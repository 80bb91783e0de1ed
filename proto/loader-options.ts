/**
 * The TypeScript form of the messages in `proto/*.proto`: 64-bit integers are decimal strings, enums their names, bytes a `Buffer`; absent
 * fields have their default, absent messages are null, and field names stay as in the file. `npm run proto:types` generates the types with
 * the same options.
 */
export const LOADER_OPTIONS = { keepCase: true, longs: String, enums: String, defaults: true, oneofs: true } as const;
