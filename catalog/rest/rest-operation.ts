import type { IncomingHttpHeaders } from 'node:http';
import type { Action } from '#shared/authorization/action.ts';
import type { SkeinError } from '#shared/error.ts';
import type { Json } from '#shared/json.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import type { DocumentOwner } from '../metadata/document-task.ts';
import type { CatalogContext } from '../context.ts';
import type { UnitOfWork } from '../store/postgres/transact.ts';

/** A request as an operation sees it: decoded and within the limits. */
export type OpenRequest = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly headers: IncomingHttpHeaders;
  /** Address of the peer, or the one that a trusted proxy forwards. */
  readonly remoteAddress: string;
  /** The address by which the client reaches the service, without a slash at its end; undefined where a proxy in between may have another. */
  readonly origin: string | undefined;
};

/** A request that needs no token; its body is the bytes as received. */
export type PublicRequest = OpenRequest & { readonly payload: Buffer };

/** A request whose token was verified and whose principal may do the operation's action. */
export type RestRequest = OpenRequest & {
  readonly claims: Principal;
  /** Undefined when there is none, and when it is `large`. */
  readonly body: Json | undefined;
  /** The bytes of a long body, for an operation that passes it to worker threads. */
  readonly large: Buffer | undefined;
  /** It comes from a client, who reads and writes files himself; absent = from a statement, to which policies are applied. */
  readonly isOfClient?: true;
};

export type Answer = {
  readonly status: number;
  /** Answer body, still to be printed as JSON. */
  readonly body?: Json;
  /** Answer body that is already printed. */
  readonly text?: string;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The answer holds a secret: it is not stored. */
  readonly isSecret?: true;
};

/** @param unit runs the transactions of the operation's change */
type Handler = (context: CatalogContext, request: RestRequest, unit: UnitOfWork) => Promise<Answer>;

/** One operation of the service: a file of its own holds the handler, a line of `operations.ts` the other members. */
export type Operation = {
  /** `operationId` of the specification. */
  readonly id: string;
  /** Verb and path template, as `GET /v1/config` advertises it. */
  readonly endpoint: string;
  /** Whether `endpoints` of the configuration names it: all of `/v1`, extensions too. */
  readonly advertised: boolean;
  /** Largest body, when it is less than `catalog.body_bytes_max`. */
  readonly bodyBytesMax?: number;
  /**
   * The operation takes long bodies as bytes. Bodies of other operations may have fewer values, because the main thread builds their
   * objects.
   */
  readonly takesLarge?: true;
  /** The operation lets clients at files: each refusal is told in the log, under this name. */
  readonly delegates?: 'vend' | 'sign';
  /** Prints errors in a shape other than Iceberg's. */
  readonly printError?: (error: SkeinError) => Answer;
} & (
  | {
      /** The action that the operation is. */
      readonly action: Action;
      readonly handle: Handler;
      /** Set for operations by which files, metadata or figures of a table come out; it is asked before the operation begins. */
      readonly filesGate?: (context: CatalogContext, request: RestRequest) => Promise<void>;
      /**
       * Set for operations that take an `Idempotency-Key`: renders the answer of an earlier successful call anew, when the first answer was
       * too large to keep or was lost in a crash.
       */
      readonly replay?: Handler;
    }
  | { readonly action: null; readonly handle: (context: CatalogContext, request: PublicRequest) => Promise<Answer> }
);

/** Describes a large body for the worker thread that parses it. */
export const largeBody = ({ claims }: RestRequest): DocumentOwner => ({
  bytes: Number.POSITIVE_INFINITY,
  owner: claims.tenant,
  what: 'a request body',
});

export const ok = (body: Json): Answer => ({ status: 200, body });
export const NO_CONTENT: Answer = { status: 204 };
export const noContent = (): Promise<Answer> => Promise.resolve(NO_CONTENT);
