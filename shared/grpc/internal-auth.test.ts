import { once } from 'node:events';
import { constants, createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { credentials } from '@grpc/grpc-js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { fixedKeyring } from '#shared/keyring.ts';
import { callUnary } from './call-unary.ts';
import { loadService } from './load-proto.ts';
import { decodeError, encodeError, fromServiceError, toServiceError } from './internal-auth.ts';

/** Bytes of headers that every implementation of HTTP/2 accepts, with room for those that gRPC adds. */
const HEADERS_MAX = 6 * 1024;

test.each(['short', 'x'.repeat(200_000), 'é'.repeat(200_000), '\u0001'.repeat(200_000), '%'.repeat(200_000)])(
  'the status of an error fits into headers, however long the message is',
  (message) => {
    const status = toServiceError(new SkeinError('INVALID_ARGUMENT', message, { position: 7 }));
    const [data] = status.metadata?.get('skein-error-bin') ?? [];
    const bytes = encodeURI(status.details ?? '').length + (data as Buffer).toString('base64').length;
    expect(bytes).toBeLessThan(HEADERS_MAX);
    const back = fromServiceError(status, 'WORKER_LOST');
    expect(back).toMatchObject({ code: 'INVALID_ARGUMENT', position: 7 });
    expect(back.message.slice(0, 40)).toBe(message.slice(0, 40));
  },
);

test('any message becomes a status, and is whole in a body', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 50 }), (unit) => {
      const error = new SkeinError('INVALID_CAST', unit.repeat(60));
      expect(toServiceError(error).details).toMatch(/^[ -~]{0,256}$/);
      expect(decodeError(encodeError(error)).toData()).toEqual(JSON.parse(JSON.stringify(error.toData())));
    }),
  );
});

test.each([
  '',
  'null',
  '[]',
  '{"code":"NO_SUCH_CODE","message":"m"}',
  '{"code":"toString","message":"m"}',
  '{"code":"',
])('what is no error of ours (%j) is an internal error', (json) => {
  expect(decodeError(Buffer.from(json)).toData()).toEqual({ code: 'INTERNAL_ERROR', message: 'internal error' });
});

test.each([
  ['is reset', (stream: ServerHttp2Stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR)],
  ['ends without a status', (stream: ServerHttp2Stream) => stream.end()],
  ['ends with trailers that have no status', (stream: ServerHttp2Stream) => stream.end()],
])('a call whose stream %s was not answered: its connection broke', async (what, end) => {
  const server = createServer();
  server.on('stream', (stream) => {
    stream.on('error', () => undefined);
    const waitForTrailers = what.includes('trailers');
    stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' }, { waitForTrailers });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-other': '1' }));
    end(stream);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const { Client } = loadService('worker.proto', 'skein.worker.v1.Worker');
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  try {
    const settings = { keyring: fixedKeyring('secret'), lost: 'CONNECTION_LOST' } as const;
    await expect(callUnary(client, 'EndQuery', { query_id: 'q' }, settings)).rejects.toMatchObject({
      code: 'CONNECTION_LOST',
    });
  } finally {
    client.close();
    server.close();
  }
});
