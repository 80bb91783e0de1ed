import type { Json, JsonObject } from '#shared/json.ts';
import { decodeType, decodeValue } from '../plan/decode-type.ts';
import type { Expression } from '../plan/expression.ts';

/** Decodes a value with its type. */
export const decodeConstant = (value: Json | undefined): Expression => ({
  kind: 'constant',
  value: decodeValue(value),
  type: decodeType((value as JsonObject)['type']),
});
