import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { Client, Pool } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '#shared/log/logger.ts';
import { isConnectTimeout, untilAccepted } from './connect.ts';

/** A server that accepts connections and never answers. */
async function silentServer(): Promise<string> {
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return `postgres://user:word@127.0.0.1:${(server.address() as AddressInfo).port}/none`;
}

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

test('what pg says of a connection that is not accepted in time is known, and other errors are not', async () => {
  const options = { connectionString: await silentServer(), connectionTimeoutMillis: 50 };
  const client = new Client(options);
  client.on('error', () => undefined);
  expect(isConnectTimeout(await failureOf(client.connect()))).toBe(true);
  const pool = new Pool({ ...options, max: 1 });
  expect(isConnectTimeout(await failureOf(pool.query('select 1')))).toBe(true);
  expect(isConnectTimeout(new Error('password authentication failed'))).toBe(false);
});

test('a start goes on when a connection took too long, and ends at any other error', async () => {
  let tries = 0;
  const work = (): Promise<number> => {
    tries += 1;
    return tries < 3 ? Promise.reject(new Error('timeout expired')) : Promise.resolve(tries);
  };
  expect(await untilAccepted(silentLogger, work)).toBe(3);
  await expect(untilAccepted(silentLogger, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
});
