import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A span as OTLP/HTTP carries it in JSON (opentelemetry-proto, `trace.proto`). */
export type OtlpSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly status: { readonly code?: number; readonly message?: string };
};

type Export = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: OtlpSpan['attributes'] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
};

/** A collector that keeps what it gets. */
export type OtlpReceiver = AsyncDisposable & {
  readonly url: string;
  readonly spans: OtlpSpan[];
  /** Attributes of the process that has sent the last ones. */
  readonly resource: Record<string, unknown>;
  /** Headers of the last request. */
  readonly headers: IncomingHttpHeaders;
  /** Status that it answers from now on. */
  answer(status: number): void;
};

/** Starts a receiver of OTLP/HTTP on loopback, which takes JSON at `/v1/traces` alone. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: OtlpSpan[] = [];
  const resource: Record<string, unknown> = {};
  const headers: IncomingHttpHeaders = {};
  let status = 200;
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    Object.assign(headers, request.headers);
    const isTraces = request.method === 'POST' && request.url === '/v1/traces';
    const isTaken = isTraces && request.headers['content-type'] === 'application/json' && status === 200;
    for (const { resource: of, scopeSpans } of isTaken ? (JSON.parse(body) as Export).resourceSpans : []) {
      Object.assign(resource, attributesOf(of));
      spans.push(...scopeSpans.flatMap((scope) => scope.spans));
    }
    response.writeHead(isTraces ? status : 404, { 'content-type': 'application/json' }).end('{}');
  };
  const server = createServer((request, response) => void take(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    resource,
    headers,
    answer: (next) => void (status = next),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

/** Attributes by name, whatever their type. */
export const attributesOf = ({ attributes }: Pick<OtlpSpan, 'attributes'>): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
