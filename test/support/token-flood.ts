import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import { must } from '#shared/must.ts';

/**
 * A thread that floods a catalog with tokens of an issuer, each of a key that nobody knows, from ever other addresses, until it is told to end.
 * It answers how many requests had which status.
 */
export type Flood = {
  /** Address of the request, on loopback. */
  readonly url: string;
  readonly issuer: string;
  readonly audience: string;
  readonly perSecond: number;
};

/** Requests that wait for an answer, at most: what the catalog does not answer in time is not sent again. */
const OPEN_MAX = 500;
/** So short that requests come one by one, and not in crowds. */
const TICK_MS = 1;

const { url, issuer, audience, perSecond } = workerData as Flood;
const port = must(parentPort, 'it is a thread');
const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const statuses: Record<string, number> = {};
const SIGNATURE = randomBytes(64).toString('base64url');
const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
let sent = 0;
let open = 0;

function send(): void {
  if (open >= OPEN_MAX) return;
  sent += 1;
  open += 1;
  const nowS = Math.floor(Date.now() / 1_000);
  const header = encoded({ alg: 'ES256', kid: `unknown ${sent} ${Date.now()}` });
  const body = encoded({ iss: issuer, aud: audience, sub: 'nobody', iat: nowS, exp: nowS + 300 });
  const address = `10.${(sent >> 16) & 255}.${(sent >> 8) & 255}.${sent & 255}`;
  const headers = { authorization: `Bearer ${header}.${body}.${SIGNATURE}`, 'x-forwarded-for': address };
  const call = request(url, { agent, headers }, (answer) => {
    const status = String(answer.statusCode);
    statuses[status] = (statuses[status] ?? 0) + 1;
    answer.resume();
  });
  call.on('error', () => (statuses['none'] = (statuses['none'] ?? 0) + 1));
  call.on('close', () => (open -= 1));
  call.end();
}

const beganMs = performance.now();
let due = 0;
const timer = setInterval(() => {
  const wanted = ((performance.now() - beganMs) / 1_000) * perSecond;
  for (; due < wanted; due += 1) send();
}, TICK_MS);
port.once('message', () => {
  clearInterval(timer);
  agent.destroy();
  port.postMessage(statuses, []);
  port.close();
});
