import { createSecureContext, TLSSocket } from 'node:tls';
import type { Socket } from 'node:net';
import type { DoorTls } from '#shared/grpc/door-tls.ts';
import { MINOR_VERSION } from './server-messages.ts';
import { protocolViolation } from './wire-error.ts';
import { MessageBody, WireReader } from './wire-reader.ts';

/** The first message of a client. */
export type Startup = {
  /** Bytes of the key for CancelRequest grew in protocol 3.2. */
  readonly hasLongKey: boolean;
  /** Whether the client asks for a newer protocol, or for options that the server does not know. */
  readonly negotiates: boolean;
  readonly unknownOptions: readonly string[];
  readonly parameters: ReadonlyMap<string, string>;
};

export type Welcome =
  | { readonly kind: 'start'; readonly socket: Socket; readonly reader: WireReader; readonly startup: Startup }
  | { readonly kind: 'cancel'; readonly socket: Socket; readonly pid: number; readonly secret: Buffer };

/** Longest first message. */
const STARTUP_BYTES_MAX = 10_000;
const PROTOCOL = 3;
const CANCEL = 80_877_102;
const SSL = 80_877_103;
const GSSENC = 80_877_104;
/** First byte of a TLS handshake. */
const TLS_HANDSHAKE = 0x16;

/** Brings a connection to its first message of the protocol, over TLS when the client asks for it. @throws WireError */
export async function welcome(raw: Socket, tls: DoorTls | undefined): Promise<Welcome | undefined> {
  let socket = raw;
  let reader = new WireReader(socket);
  let isEncrypted = false;
  const encrypt = (): void => {
    if (tls === undefined) throw protocolViolation('there is no TLS here');
    reader.release();
    socket = encrypted(socket, tls);
    reader = new WireReader(socket);
    isEncrypted = true;
  };
  const first = await reader.bytes(1);
  if (first === undefined) return undefined;
  const isDirect = first[0] === TLS_HANDSHAKE;
  if (isDirect) {
    reader.release();
    socket.unshift(first);
    encrypt();
  }
  for (let head: Buffer | undefined = isDirect ? undefined : first; ; head = undefined) {
    const rest = await reader.bytes(head === undefined ? 4 : 3);
    if (rest === undefined) return undefined;
    const length = Buffer.concat(head === undefined ? [rest] : [head, rest]).readInt32BE() - 4;
    if (length < 4 || length > STARTUP_BYTES_MAX) throw protocolViolation('the first message has no valid length');
    const bytes = await reader.bytes(length);
    if (bytes === undefined) return undefined;
    const body = new MessageBody(bytes);
    const code = body.int32();
    if (code === SSL || code === GSSENC) {
      const agrees = code === SSL && tls !== undefined && !isEncrypted;
      socket.write(agrees ? 'S' : 'N');
      if (!agrees) continue;
      // Bytes behind the request were sent in the clear; somebody between could have put them there.
      if (socket.readableLength > 0) throw protocolViolation('bytes came before the handshake of TLS');
      encrypt();
    } else if (code === CANCEL) {
      return { kind: 'cancel', socket, pid: body.int32(), secret: body.take(length - 8) };
    } else {
      return { kind: 'start', socket, reader, startup: readStartup(code, body) };
    }
  }
}

function encrypted(socket: Socket, tls: DoorTls): TLSSocket {
  const { cert, key, clientCa } = tls.material;
  const needsClient = clientCa !== undefined;
  const secured = new TLSSocket(socket, {
    isServer: true,
    secureContext: createSecureContext({ cert, key, ...(needsClient ? { ca: clientCa } : {}) }),
    ALPNProtocols: ['postgresql'],
    requestCert: needsClient,
    rejectUnauthorized: needsClient,
  });
  secured.on('error', () => secured.destroy());
  return secured;
}

function readStartup(version: number, body: MessageBody): Startup {
  const [major, minor] = [version >>> 16, version & 0xff_ff];
  if (major !== PROTOCOL) throw protocolViolation(`protocol ${major}.${minor} is not spoken here, but 3.0 to 3.2`);
  const parameters = new Map<string, string>();
  for (let name = body.text(); name !== ''; name = body.text()) parameters.set(name, body.text());
  const unknownOptions = [...parameters.keys()].filter((name) => name.startsWith('_pq_.'));
  return {
    hasLongKey: minor >= MINOR_VERSION,
    negotiates: minor > MINOR_VERSION || unknownOptions.length > 0,
    unknownOptions,
    parameters,
  };
}

/** `-c tenant=t --name=value` -> the settings in it. A backslash keeps the character behind it. */
export function settingsOf(options: string): ReadonlyMap<string, string> {
  const words = [...options.matchAll(/(?:\\.|[^\s\\])+/g)].map(([word]) => word.replaceAll(/\\(.)/g, '$1'));
  const settings = new Map<string, string>();
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i] ?? '';
    const given = word === '-c' ? (words[(i += 1)] ?? '') : word.replace(/^(--|-c)/, '');
    const [name = '', ...value] = given.split('=');
    settings.set(name, value.join('='));
  }
  return settings;
}
