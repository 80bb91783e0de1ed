import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { S3Credential } from '#shared/storage/credential.ts';
import { FilesStayed } from '#shared/storage/files-stayed.ts';
import { S3Client } from './s3-client.ts';
import { removeObjects } from './s3-lists.ts';

/** Deletions of many objects, by a store that says 200 before it knows how they end. */
let server: Server | undefined;

afterEach(() => void server?.close());

/** A client of a store that answers each request with 200 and a text. */
async function clientOf(textOf: (body: string) => string): Promise<S3Client> {
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const chunks = await Array.fromAsync(incoming as AsyncIterable<Buffer>);
    outgoing.writeHead(200, { 'content-type': 'application/xml' }).end(textOf(String(Buffer.concat(chunks))));
  };
  server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const key: S3Credential = {
    kind: 's3',
    accessKeyId: 'id',
    secretAccessKey: 'secret',
    sessionToken: null,
    expiresAtMs: null,
    region: 'us-east-1',
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pathStyle: true,
  };
  return new S3Client(key);
}

const at = (name: string): string => `s3://bucket/${name}`;
const stayed = async (client: S3Client, names: readonly string[]): Promise<FilesStayed['stayed']> => {
  const error = await removeObjects(client, names.map(at)).catch((one: unknown) => one);
  expect(error).toBeInstanceOf(FilesStayed);
  return (error as FilesStayed).stayed;
};

test('an error inside an answer of 200 is told for its key, with its code, and for no other one', async () => {
  const failed = (key: string, code: string): string => `<Error><Key>${key}</Key><Code>${code}</Code></Error>`;
  const client = await clientOf(
    () => `<DeleteResult>${failed('b&amp;ä', 'InternalError')}${failed('d', 'AccessDenied')}</DeleteResult>`,
  );
  expect(await stayed(client, ['a', 'b&ä', 'c', 'd'])).toEqual([
    { location: at('b&ä'), why: 'InternalError' },
    { location: at('d'), why: 'AccessDenied' },
  ]);
});

test('an answer of 200 that is an error keeps all keys of its request, and those of the next request are gone', async () => {
  const names = Array.from({ length: 1_001 }, (_, i) => `k${i}`);
  const client = await clientOf((body) =>
    body.includes('<Key>k0</Key>')
      ? '<Error><Code>InternalError</Code><Message>later</Message></Error>'
      : '<DeleteResult/>',
  );
  const found = await stayed(client, names);
  expect(found.map(({ location }) => location)).toEqual(names.slice(0, 1_000).map(at));
  expect(new Set(found.map(({ why }) => /InternalError/.test(why)))).toEqual(new Set([true]));
});
