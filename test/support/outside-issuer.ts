import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTHeaderParameters } from 'jose';
import { issueServerCertificate, makeAuthority } from '#cli/certificate/make-certificate.ts';
import type { Config } from '#shared/config/config-schema.ts';

/** An issuer of tokens over https: a discovery document and a key set, as Kubernetes and GitHub have them. */
export type OutsideIssuer = {
  readonly issuer: string;
  /** The settings of a catalog that may reach it. */
  readonly settings: Pick<Config, 'webhook.ca_file' | 'webhook.allowed_networks'>;
  /** The paths that were asked for, in this order. */
  readonly asked: readonly string[];
  readonly keys: readonly JWK[];
  /** Answers from now on, by path, in place of the documents. */
  answers: Readonly<Record<string, (response: ServerResponse) => void>>;
  /** Facts of its discovery document beside the usual ones. */
  facts: Readonly<Record<string, unknown>>;
  /** A token that is good for five minutes. */
  sign(claims: OutsideIssuerClaims, header?: Partial<JWTHeaderParameters>, key?: CryptoKey): Promise<string>;
  /** Signs with another key from now on. @param keep the key before stays in its key set */
  rotate(keep: boolean, algorithm?: string): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Claims of a token; undefined takes a usual one away. */
type OutsideIssuerClaims = Readonly<Record<string, unknown>>;

const DISCOVERY = '/.well-known/openid-configuration';

export async function startOutsideIssuer(path = ''): Promise<OutsideIssuer> {
  const authority = await makeAuthority('issuers', 2);
  const { cert, key } = await issueServerCertificate(authority, { hosts: ['127.0.0.1', 'localhost'], days: 2 });
  const dir = await mkdtemp(join(tmpdir(), 'skein-issuer-'));
  const caFile = join(dir, 'ca.pem');
  await writeFile(caFile, authority.cert);
  const asked: string[] = [];
  const server = createServer({ cert, key }, (request, response) => {
    const { url = '' } = request;
    asked.push(url);
    request.resume();
    const own = issuer.answers[url];
    if (own !== undefined) return own(response);
    const send = (document: object): void =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
    if (url === path + DISCOVERY) {
      send({ issuer: issuer.issuer, jwks_uri: `${issuer.issuer}/keys`, ...issuer.facts });
    } else if (url === `${path}/keys`) send({ keys });
    else response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const keys: JWK[] = [];
  let signing: { readonly key: CryptoKey; readonly kid: string; readonly alg: string };
  const issuer: OutsideIssuer = {
    issuer: `https://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    settings: { 'webhook.ca_file': caFile, 'webhook.allowed_networks': ['127.0.0.1'] },
    asked,
    keys,
    answers: {},
    facts: {},
    sign(claims, header = {}, own) {
      const nowS = Math.floor(Date.now() / 1_000);
      const { kid, alg, key: current } = signing;
      return new SignJWT({ iss: issuer.issuer, aud: 'skein:default', iat: nowS, exp: nowS + 300, ...claims })
        .setProtectedHeader({ alg, kid, ...header })
        .sign(own ?? current);
    },
    async rotate(keep, alg = 'RS256') {
      const pair = await generateKeyPair(alg, { extractable: true });
      const kid = `key ${keys.length + asked.length} of ${alg}`;
      if (!keep) keys.length = 0;
      keys.push({ ...(await exportJWK(pair.publicKey)), kid, alg, use: 'sig' });
      signing = { key: pair.privateKey, kid, alg };
      return kid;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
  await issuer.rotate(false);
  return issuer;
}
