import { SkeinError } from '#shared/error.ts';
import { escapeUri } from '#shared/storage/object/send-request.ts';
import type { S3Settings } from '../../metadata/s3-settings.ts';

/** Addresses of requests to a store, as clients write them. A client is not believed: what it names is read as the store will read it. */

/** The address of an object, or of the bucket when the key is empty. */
export type StoreUri = {
  readonly protocol: string;
  /** The host with its port, as the header `host` has it. */
  readonly host: string;
  readonly bucket: string;
  /** Decoded. */
  readonly key: string;
  /** The escaped path as the signature covers it. */
  readonly canonicalPath: string;
  /** Decoded, no name twice. */
  readonly query: ReadonlyMap<string, string>;
};

type Store = Pick<S3Settings, 'endpoint' | 'region' | 'pathStyle'>;

/** A bucket's name; old ones have capitals and underscores. */
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/;

/** Bytes of a URI: of a key, escaped, and a token to go on with a list. */
const URI_LENGTH_MAX = 16_384;
/** Visible characters of ASCII, of which `\`, quotes, brackets and `|` must be escaped. */
const URI = /^(https?):\/\/([^/?#]+)(\/[^?#]*)?(?:\?([^#]*))?$/;
const PLAIN = /^[!#$%&'()*+,./0-9:;=?@A-Z[\]_a-z~-]*$/;

/**
 * Reads the address of a request to a store.
 * @throws INVALID_REQUEST for one that is not written as addresses are, or whose path holds `.` or `..`, decoded once or twice;
 * FORBIDDEN for another host than the store's
 */
export function readStoreUri(uri: string, store: Store): StoreUri {
  if (uri.length > URI_LENGTH_MAX) throw invalid(`it is longer than ${URI_LENGTH_MAX} characters`);
  if (!PLAIN.test(uri)) throw invalid('it holds characters that have to be escaped');
  const [, protocol = '', authority = '', path = '/', query = ''] = URI.exec(uri) ?? [];
  if (protocol === '') throw invalid('it is no address of HTTP without a fragment');
  if (authority.includes('@')) throw invalid('it names a user');
  const host = withoutDefaultPort(protocol, authority.toLowerCase());
  const place = placeOf({ protocol, host, segments: path.slice(1).split('/').map(decoded) }, store);
  if (!BUCKET.test(place.bucket)) throw invalid('it names no bucket');
  requirePlainSegments(place.key);
  return { protocol, ...place, query: readQuery(query) };
}

/** The address that is signed. It is written of what was read, so that the store reads the same bucket and key. */
export function printStoreUri({ protocol, host, canonicalPath, query }: StoreUri): string {
  const parameters = [...query].map(([name, value]) => `${escapeUri(name)}=${escapeUri(value)}`);
  return `${protocol}://${host}${canonicalPath}${parameters.length === 0 ? '' : '?'}${parameters.join('&')}`;
}

/** Whether an address names the host of a store. */
export function isOfStore(uri: string, store: Store): boolean {
  try {
    readStoreUri(uri, store);
    return true;
  } catch (error) {
    if (SkeinError.of(error).code === 'FORBIDDEN') return false;
    throw error;
  }
}

type Written = { readonly protocol: string; readonly host: string; readonly segments: readonly string[] };

/**
 * The bucket is the first part of the path at the store's own host. A catalog that does not say path-style has a store that reads what stands
 * before its host as the bucket, too; one that does reads the path whatever the host is, so that another host would name two buckets.
 */
function placeOf(
  { protocol, host, segments }: Written,
  store: Store,
): Pick<StoreUri, 'host' | 'bucket' | 'key' | 'canonicalPath'> {
  const escaped = (parts: readonly string[]): string => parts.map((part) => `/${escapeUri(part)}`).join('');
  for (const own of hostsOf(store)) {
    if (protocol !== own.protocol) continue;
    if (host === own.host) {
      const [bucket = '', ...key] = segments;
      return { host: own.host, bucket, key: key.join('/'), canonicalPath: escaped(segments) };
    }
    if (!store.pathStyle && host.endsWith(`.${own.host}`)) {
      const bucket = host.slice(0, -own.host.length - 1);
      return { host: `${bucket}.${own.host}`, bucket, key: segments.join('/'), canonicalPath: escaped(segments) };
    }
  }
  throw new SkeinError('FORBIDDEN', 'the request is for another host than the store of the table');
}

function hostsOf({ endpoint, region }: Store): readonly { readonly protocol: string; readonly host: string }[] {
  if (endpoint !== null) {
    const { protocol, host } = new URL(endpoint);
    return [{ protocol: protocol.slice(0, -1), host }];
  }
  const domain = `amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  const names = [`s3.${region}`, `s3.dualstack.${region}`, ...(region === 'us-east-1' ? ['s3'] : [])];
  return names.map((name) => ({ protocol: 'https', host: `${name}.${domain}` }));
}

const withoutDefaultPort = (protocol: string, host: string): string =>
  host.endsWith(protocol === 'https' ? ':443' : ':80') ? host.slice(0, host.lastIndexOf(':')) : host;

/** @throws INVALID_REQUEST */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid('it holds an escape that is none');
  }
}

/** Some stores and proxies resolve such segments, some after they have decoded a second time. @throws INVALID_REQUEST */
export function requirePlainSegments(key: string): void {
  for (const text of [key, decodedAgain(key)]) {
    if (text.includes('\0')) throw invalid('it holds a NUL');
    if (text.split(/[\\/]/).some((segment) => segment === '.' || segment === '..')) {
      throw invalid('its path holds a segment . or ..');
    }
  }
}

/** A key with escapes of its own, as one reads it who decodes twice: one who leaves alone what is no escape, too. */
export function decodedAgain(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key.replaceAll(/%([0-7][0-9a-fA-F])/g, (_all, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
  }
}

/** @throws INVALID_REQUEST for a parameter that comes twice, and for `;`, which some stores take for `&` */
function readQuery(text: string): ReadonlyMap<string, string> {
  const query = new Map<string, string>();
  if (text === '') return query;
  if (text.includes(';')) throw invalid('its query holds a semicolon');
  for (const pair of text.split('&')) {
    const at = pair.indexOf('=');
    const [name, value] = at === -1 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
    const key = decoded(name.replaceAll('+', ' '));
    if (query.has(key)) throw invalid(`the parameter ${key.slice(0, 100)} comes twice`);
    query.set(key, decoded(value.replaceAll('+', ' ')));
  }
  return query;
}

const invalid = (why: string): SkeinError => new SkeinError('INVALID_REQUEST', `the URI cannot be signed: ${why}`);
