import type { IncomingHttpHeaders } from 'node:http';
import type { Json } from '#shared/json.ts';
import type { Scope, TokenClaims } from '#shared/token-claims.ts';
import type { CatalogContext } from '../context.ts';

/** A request as an operation sees it: decoded and within the limits. */
export type OpenRequest = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly headers: IncomingHttpHeaders;
  /** Of the peer. */
  readonly remoteAddress: string;
};

/** A request whose token was verified and has the scope of the operation. */
export type RestRequest = OpenRequest & {
  readonly claims: TokenClaims;
  /** Undefined when there is none. */
  readonly body: Json | undefined;
};

export type Answer = {
  readonly status: number;
  /** Printed as JSON. */
  readonly body?: Json;
  /** Already printed. */
  readonly text?: string;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** One operation of the service: one file holds its handler, one line of `operations.ts` the rest. */
export type Operation = {
  /** `operationId` of the specification. */
  readonly id: string;
  /** Verb and path template, as `GET /v1/config` advertises it. */
  readonly endpoint: string;
  /** Whether `endpoints` of the configuration names it: those of the Iceberg specification that need a catalog. */
  readonly advertised: boolean;
} & (
  | { readonly scope: Scope; readonly handle: (context: CatalogContext, request: RestRequest) => Promise<Answer> }
  | { readonly scope: null; readonly handle: (context: CatalogContext, request: OpenRequest) => Promise<Answer> }
);

export const ok = (body: Json): Answer => ({ status: 200, body });
export const NO_CONTENT: Answer = { status: 204 };
