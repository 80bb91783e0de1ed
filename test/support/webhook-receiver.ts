import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issueServerCertificate, makeAuthority } from '#cli/certificate/make-certificate.ts';

export type Received = { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string };

/** A receiver of webhooks over HTTPS, with a certificate of an authority of its own. */
export type WebhookReceiver = {
  readonly port: number;
  /** PEM file of the authority, for `webhook.ca_file`. */
  readonly caFile: string;
  /** All that has come, in this order. */
  readonly received: readonly Received[];
  /** How it answers from now on; by default 204. */
  answer: (response: ServerResponse, received: Received) => void;
  [Symbol.asyncDispose](): Promise<void>;
};

export async function startWebhookReceiver(hosts: readonly string[]): Promise<WebhookReceiver> {
  const authority = await makeAuthority('webhooks', 2);
  const { cert, key } = await issueServerCertificate(authority, { hosts, days: 2 });
  const dir = await mkdtemp(join(tmpdir(), 'skein-webhook-'));
  const caFile = join(dir, 'ca.pem');
  await writeFile(caFile, authority.cert);
  const received: Received[] = [];
  const server = createServer({ cert, key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() };
      received.push(one);
      receiver.answer(response, one);
    });
  });
  const receiver: WebhookReceiver = {
    port: await listening(server),
    caFile,
    received,
    answer: (response) => void response.writeHead(204).end(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
  return receiver;
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** A server of DNS that answers every question for an IPv4 address with `address`, and has no others. */
export async function startDns(first: string): Promise<{ address: string; readonly server: string } & AsyncDisposable> {
  const socket = createSocket('udp4');
  const dns = { address: first };
  socket.on('message', (question, { port, address }) => {
    const isA = question.readUInt16BE(question.indexOf(0, 12) + 1) === 1;
    const end = question.indexOf(0, 12) + 5;
    const head = Buffer.from(question.subarray(0, end));
    head.writeUInt16BE(0x81_80, 2);
    head.writeUInt16BE(isA ? 1 : 0, 6);
    head.writeUInt16BE(0, 8);
    head.writeUInt16BE(0, 10);
    // The name of the question, type A, class IN, no time to live, four bytes.
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...dns.address.split('.').map(Number)]);
    socket.send(isA ? Buffer.concat([head, record]) : head, port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return Object.assign(dns, {
    server: `127.0.0.1:${socket.address().port}`,
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, 'close');
    },
  });
}
