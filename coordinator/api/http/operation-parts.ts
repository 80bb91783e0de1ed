import { Type, type TSchema } from 'typebox';
import { ERRORS, type ErrorCode } from '#shared/error.ts';
import { ref } from './api-types.ts';
import { UUID } from '../../profile/schema-parts.ts';

type Answer = Readonly<Record<string, unknown>>;

/** An answer with a JSON body. */
export const json = (schema: TSchema, description: string, headers?: Answer): Answer => ({
  description,
  ...(headers === undefined ? {} : { headers }),
  content: { 'application/json': { schema } },
});

const CHALLENGE = { 'WWW-Authenticate': { type: 'string', const: 'Bearer', description: 'How to authenticate' } };

/** The answers of the catalogue's errors, by HTTP status; `missing` are codes of things that a path names, with status 404. */
export function errors(
  codes: readonly ErrorCode[],
  { missing = [], headers = {} }: { readonly missing?: readonly ErrorCode[]; readonly headers?: Answer } = {},
): Answer {
  const byStatus = new Map<number, ErrorCode[]>();
  const all: readonly ErrorCode[] = [...codes, 'UNAUTHENTICATED', 'CATALOG_UNAVAILABLE', 'INTERNAL_ERROR'];
  for (const code of all) byStatus.set(ERRORS[code].http, [...(byStatus.get(ERRORS[code].http) ?? []), code]);
  if (missing.length > 0) byStatus.set(404, [...(byStatus.get(404) ?? []), ...missing]);
  const describe = (code: ErrorCode): string => `\`${code}\` (${ERRORS[code].sqlState}): ${ERRORS[code].meaning}`;
  const headersOf = (status: number): Answer => (status === 401 ? { ...headers, ...CHALLENGE } : headers);
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      String(status),
      json(ref('Error'), list.map(describe).join('\n\n'), headersOf(status)),
    ]),
  );
}

/** The parameters of a path that ends with an id. */
export const byId = (what: string) => Type.Object({ id: Type.String({ ...UUID, description: `Id of the ${what}` }) });
