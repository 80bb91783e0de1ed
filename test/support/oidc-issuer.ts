import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request as httpsRequest } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { Provider } from 'oidc-provider';
import { issueServerCertificate, makeAuthority } from '#cli/certificate/make-certificate.ts';
import type { Config } from '#shared/config/config-schema.ts';

/** Somebody at the provider: his subject, his claims, and how he proves himself there. */
export type OidcPerson = {
  readonly sub: string;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly amr?: readonly string[];
  readonly acr?: string;
};

/** A real OpenID provider (npm `oidc-provider`) over https, which signs in whoever is `person` now without asking. */
export type OidcIssuer = {
  readonly issuer: string;
  readonly settings: Pick<Config, 'webhook.ca_file' | 'webhook.allowed_networks'>;
  person: OidcPerson;
  /** Signs with a new key from now on; those before stay in its key set. */
  rotate(): Promise<void>;
  /** Goes to an address of the provider with the cookies of a browser of its own, until it is sent away. @returns where to */
  visit(address: string, cookies?: Map<string, string>): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
};

export const OIDC_CLIENT = { clientId: 'skein', clientSecret: 'the secret of skein at the provider' } as const;

/** @param redirects the addresses to which it sends browsers back, once they are known */
export async function startOidcIssuer(redirects: readonly string[]): Promise<OidcIssuer> {
  const authority = await makeAuthority('issuers', 2);
  const { cert, key } = await issueServerCertificate(authority, { hosts: ['127.0.0.1', 'localhost'], days: 2 });
  const dir = await mkdtemp(join(tmpdir(), 'skein-oidc-'));
  const caFile = join(dir, 'ca.pem');
  await writeFile(caFile, authority.cert);
  let handle: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) =>
    void response.end();
  const server = createServer({ cert, key }, (request, response) => handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let provider: Provider;
  const keys: JWK[] = [];
  const rotate = async (): Promise<void> => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    // The first one signs.
    keys.unshift({ ...(await exportJWK(privateKey)), kid: `key ${keys.length}`, alg: 'ES256', use: 'sig' });
    provider = makeProvider(issuer, redirects, [...keys], () => own.person);
    const answer = provider.callback();
    handle = (request, response) => {
      if (request.url?.startsWith('/interaction/') === true) void interact(provider, own.person, request, response);
      else void answer(request, response);
    };
  };
  const own: OidcIssuer = {
    issuer,
    settings: { 'webhook.ca_file': caFile, 'webhook.allowed_networks': ['127.0.0.1'] },
    person: { sub: 'ann at corp' },
    async visit(address, cookies = new Map()) {
      for (let at = address, turns = 0; turns < 10; turns += 1) {
        const location = await follow(at, authority.cert, cookies);
        at = new URL(location, at).href;
        if (!at.startsWith(issuer)) return at;
      }
      throw new Error('the provider sends the browser nowhere');
    },
    rotate,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
  await rotate();
  return own;
}

const makeProvider = (
  issuer: string,
  redirects: readonly string[],
  keys: readonly JWK[],
  person: () => OidcPerson,
): Provider =>
  new Provider(issuer, {
    clients: [
      {
        client_id: OIDC_CLIENT.clientId,
        client_secret: OIDC_CLIENT.clientSecret,
        redirect_uris: [...redirects],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    jwks: { keys: [...keys] },
    cookies: { keys: ['a key of the test'] },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
    conformIdTokenClaims: false,
    claims: {
      openid: ['sub', 'groups', 'amr', 'acr', 'auth_time'],
      profile: ['name', 'preferred_username'],
      email: ['email', 'email_verified'],
    },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub, ...person().claims }) }),
  });

/** Signs the person in, and consents to everything. */
async function interact(
  provider: Provider,
  { sub, amr = ['pwd'], acr }: OidcPerson,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    const login = { accountId: sub, amr: [...amr], ...(acr === undefined ? {} : { acr }) };
    return provider.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false });
  }
  const grant = new provider.Grant({
    ...(session === undefined ? {} : { accountId: session.accountId }),
    clientId: String(params['client_id']),
  });
  grant.addOIDCScope('openid profile email');
  const consent = { grantId: await grant.save() };
  return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
}

function follow(address: string, ca: string, cookies: Map<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const sent = httpsRequest(address, { ca, headers: cookie === '' ? {} : { cookie } }, (answer) => {
      for (const line of answer.headers['set-cookie'] ?? []) {
        const [pair = ''] = line.split(';');
        const at = pair.indexOf('=');
        if (pair.slice(at + 1) === '') cookies.delete(pair.slice(0, at));
        else cookies.set(pair.slice(0, at), pair.slice(at + 1));
      }
      answer.resume();
      const { location } = answer.headers;
      if (location === undefined) reject(new Error(`${address} answers ${answer.statusCode} without a way on`));
      else resolve(location);
    });
    sent.on('error', reject);
    sent.end();
  });
}
