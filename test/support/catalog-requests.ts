import { expect } from 'vitest';
import type { Json, JsonObject } from '#shared/json.ts';
import type { RestAnswer } from './catalog.ts';

/** Requests and answers of the REST catalog, for whichever catalog a test starts. */

/** Namespaces of the first catalog. */
export const NS = '/v1/lake/namespaces';
export const SCHEMA = { type: 'struct', fields: [{ id: 1, name: 'a', required: false, type: 'long' }] };

export const errorOf = ({ status, body }: RestAnswer): [number, string, string] => {
  const { code, type, message } = body['error'] as { code: number; type: string; message: string };
  expect(code).toBe(status);
  return [status, type, message];
};
export const metadataOf = ({ body }: RestAnswer): JsonObject => body['metadata'] as JsonObject;
export const locationOf = (answer: RestAnswer): string => metadataOf(answer)['location'] as string;
export const snapshot = (location: string, id: Json, parent?: Json, sequence = 1): object => ({
  action: 'add-snapshot',
  snapshot: {
    'snapshot-id': id,
    ...(parent === undefined ? {} : { 'parent-snapshot-id': parent }),
    'sequence-number': sequence,
    'timestamp-ms': Date.now(),
    'manifest-list': `${location}/metadata/snap.avro`,
    summary: { operation: 'append' },
  },
});
export const setMain = (id: Json): object => ({
  action: 'set-snapshot-ref',
  'ref-name': 'main',
  type: 'branch',
  'snapshot-id': id,
});
