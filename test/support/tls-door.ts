import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { TestCertificates } from './certificates.ts';

/** An end of TLS before a server that speaks HTTP, as a proxy is: heads and bodies go through as they come. */
export type TlsDoor = AsyncDisposable & {
  /** `https://localhost:port` */
  readonly endpoint: string;
  /** The file of the authority that its certificate is of. */
  readonly authority: string;
};

export async function openTlsDoor(server: string): Promise<TlsDoor> {
  const certificates = await TestCertificates.make();
  const files = await certificates.issue('store', ['catalog'], ['localhost', '127.0.0.1']);
  const { 'cluster.tls_ca': authority, 'cluster.tls_cert': cert, 'cluster.tls_key': key } = files;
  const door = createServer({ cert: await readFile(cert), key: await readFile(key) }, (incoming, outgoing) => {
    const { method, url = '/', headers } = incoming;
    const onward = httpRequest(server + url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.once('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  return {
    endpoint: `https://localhost:${(door.address() as AddressInfo).port}`,
    authority,
    [Symbol.asyncDispose]: async () => {
      door.closeAllConnections();
      door.close();
      await certificates[Symbol.asyncDispose]();
    },
  };
}
