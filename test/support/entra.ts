import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AZURITE_ACCOUNT } from './azurite.ts';

/**
 * A directory of Microsoft's that knows one client of one tenant, and the metadata server of a machine of Azure. As the address of an account
 * it gives nobody a user delegation key, as where an identity lacks the role for it, and takes no signature, as where one does not hold yet.
 */
export type Entra = AsyncDisposable & { readonly endpoint: string; aheadMs: number; isMachine: boolean };

export const TENANT = 'tenant-1';
export const CLIENT = 'client-1';
export const SECRET = 'the-secret-of-the-client';

export async function startEntra(): Promise<Entra> {
  const server = createServer((incoming, answer) => {
    void (async () => {
      let text = '';
      for await (const chunk of incoming) text += String(chunk);
      const form = new URLSearchParams(text);
      answer.setHeader('date', new Date(Date.now() + entra.aheadMs).toUTCString());
      const refuse = (code: string): void =>
        void answer.writeHead(401).end(JSON.stringify({ error_description: `${code}: ${form.get('client_secret')}` }));
      if (incoming.url?.includes('comp=userdelegationkey') === true) {
        const code = 'AuthorizationPermissionMismatch';
        const text = `<Error><Code>${code}</Code><Message>${incoming.headers.authorization}</Message></Error>`;
        return void answer.writeHead(403, { 'x-ms-error-code': code }).end(text);
      }
      if (incoming.url?.startsWith(`/${AZURITE_ACCOUNT}/`) === true) {
        return void answer.writeHead(403, { 'x-ms-error-code': 'AuthenticationFailed' }).end();
      }
      const isMachine = incoming.url?.startsWith('/metadata/identity/') === true;
      if (isMachine && (!entra.isMachine || incoming.headers['metadata'] !== 'true')) return refuse('none');
      if (!isMachine && !incoming.url?.startsWith(`/${TENANT}/`)) return refuse('AADSTS90002');
      if (!isMachine && form.get('client_id') !== CLIENT) return refuse('AADSTS700016');
      if (!isMachine && form.get('client_secret') !== SECRET) return refuse('AADSTS7000215');
      answer.end(JSON.stringify({ access_token: azureToken(), expires_in: 3_600 }));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const entra: Entra = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    aheadMs: 0,
    isMachine: false,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return entra;
}

/** A token that Azurite takes: it reads the claims, and no signature. */
function azureToken(): string {
  const now = Math.floor(Date.now() / 1_000);
  const claims = {
    aud: 'https://storage.azure.com',
    iss: 'https://sts.windows.net/ab1f708d-50f6-404c-a006-d71b2ac7a606/',
    tid: 'ab1f708d-50f6-404c-a006-d71b2ac7a606',
    oid: '23657296-5cd5-45b0-a809-d972a7f4dfe1',
    iat: now,
    nbf: now - 60,
    exp: now + 3_600,
  };
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}.c2lnbmF0dXJl`;
}
