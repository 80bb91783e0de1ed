import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { MINOR_VERSION } from '../message/server-messages.ts';
import { ALPN_NAME, type TlsEntry } from './tls-entry.ts';
import { protocolViolation, WireError } from '../message/wire-error.ts';
import { MessageBody, WireReader } from '../message/wire-reader.ts';

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

/**
 * Brings a connection to its first message of the protocol. A door with TLS takes no sign-in without it, because the password would go in the
 * clear and the client's certificate would be asked of nobody; a key to cancel may come without, as libpq sends it.
 * @param onEncrypted is given what the connection is from its handshake on @throws WireError
 */
export async function welcome(
  raw: Socket,
  tls: TlsEntry | undefined,
  onEncrypted: (socket: TLSSocket) => void,
): Promise<Welcome | undefined> {
  const encrypted = async (): Promise<TLSSocket | undefined> => {
    if (tls === undefined) throw protocolViolation('there is no TLS here');
    plain.release();
    const socket = await tls.enter(raw);
    if (socket !== undefined) onEncrypted(socket);
    return socket;
  };
  const plain = new WireReader(raw);
  const first = await plain.bytes(1);
  if (first === undefined) return undefined;
  if (first[0] === TLS_HANDSHAKE) {
    raw.unshift(first);
    const socket = await encrypted();
    // Another protocol's client, which a page on the web may have sent here, does not name this one.
    if (socket !== undefined && socket.alpnProtocol !== ALPN_NAME) throw protocolViolation('ALPN names no postgresql');
    return socket === undefined ? undefined : opened(socket);
  }
  for (let head: Buffer | undefined = first; ; head = undefined) {
    const body = await firstMessage(plain, head);
    if (body === undefined) return undefined;
    const code = body.int32();
    if (code === SSL && tls !== undefined) {
      raw.write('S');
      // Bytes behind the request were sent in the clear; somebody between could have put them there.
      if (raw.readableLength > 0) throw protocolViolation('bytes came before the handshake of TLS');
      const socket = await encrypted();
      return socket === undefined ? undefined : opened(socket);
    }
    if (code === SSL || code === GSSENC) {
      raw.write('N');
    } else if (code === CANCEL) {
      return cancelRequest(raw, body);
    } else if (tls !== undefined) {
      throw new WireError('28000', 'this server takes no connection without TLS (sslmode=require)');
    } else {
      return { kind: 'start', socket: raw, reader: plain, startup: readStartup(code, body) };
    }
  }
}

/** The first message within TLS. */
async function opened(socket: TLSSocket): Promise<Welcome | undefined> {
  const reader = new WireReader(socket);
  for (;;) {
    const body = await firstMessage(reader);
    if (body === undefined) return undefined;
    const code = body.int32();
    if (code === SSL || code === GSSENC) socket.write('N');
    else if (code === CANCEL) return cancelRequest(socket, body);
    else return { kind: 'start', socket, reader, startup: readStartup(code, body) };
  }
}

/** @param head a byte of it that was read before */
async function firstMessage(reader: WireReader, head?: Buffer): Promise<MessageBody | undefined> {
  const rest = await reader.bytes(head === undefined ? 4 : 3);
  if (rest === undefined) return undefined;
  const length = Buffer.concat(head === undefined ? [rest] : [head, rest]).readInt32BE() - 4;
  if (length < 4 || length > STARTUP_BYTES_MAX) throw protocolViolation('the first message has no valid length');
  const bytes = await reader.bytes(length);
  return bytes === undefined ? undefined : new MessageBody(bytes);
}

const cancelRequest = (socket: Socket, body: MessageBody): Welcome => ({
  kind: 'cancel',
  socket,
  pid: body.int32(),
  secret: body.rest(),
});

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
