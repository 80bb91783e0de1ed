import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
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
