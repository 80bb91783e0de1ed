import { createHash, randomBytes } from 'node:crypto';
import type { PageVisitor } from './page-visitor.ts';

type Tokens = { readonly access_token: string; readonly refresh_token: string };

const CALLBACK = 'http://127.0.0.1:4711/callback';

/** Signs a user in by a browser, and a terminal by that. @param catalogUrl of the catalog that `visitor` visits */
export async function signInTerminal(
  visitor: PageVisitor,
  catalogUrl: string,
  shown: { readonly username: string; readonly password: string },
): Promise<Tokens> {
  await visitor.submit('/sign-in', shown);
  const verifier = randomBytes(32).toString('base64url');
  const request = {
    response_type: 'code',
    client_id: 'skein-cli',
    redirect_uri: CALLBACK,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  const question = `/oauth/authorize?${new URLSearchParams(request).toString()}`;
  const { headers } = await visitor.submit(question, { ...request, answer: 'allow' }, { action: '/oauth/authorize' });
  const code = new URL(headers.get('location') ?? '').searchParams.get('code') ?? '';
  const form = { grant_type: 'authorization_code', client_id: 'skein-cli', redirect_uri: CALLBACK };
  const answer = await fetch(`${catalogUrl}/v1/oauth/tokens`, {
    method: 'POST',
    body: new URLSearchParams({ ...form, code, code_verifier: verifier }),
  });
  if (!answer.ok) throw new Error(`the code was refused: ${await answer.text()}`);
  return (await answer.json()) as Tokens;
}
