import { beforeEach, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import type { TokenClaims } from '#shared/authorization/token-claims.ts';
import type { Caller } from './authenticate.ts';
import { passwordSignIn, withAccessTokens, type SignIn } from './sign-in.ts';

/** A text in the form of a token. */
const TOKEN = 'eyJh.eyJi.c';
const HERE = { address: '10.0.0.1', tenant: null };
let nowMs: number;
let checked: string[];
/** Tokens that were revoked. */
let revoked: Set<string>;
let signIn: SignIn;

beforeEach(() => {
  [nowMs, checked, revoked] = [0, [], new Set()];
  const authenticate = (authorization = ''): Promise<Caller> => {
    const token = authorization.replace('Bearer ', '');
    if (revoked.has(token)) return Promise.reject(new SkeinError('UNAUTHENTICATED', 'the token has been revoked'));
    const claims = { preferred_username: 'ann', tenant: 'default' } as TokenClaims;
    return Promise.resolve({ claims, decisions: new Map() });
  };
  const catalog = {
    signIn: ({ user, password, tenant }: { user: string; password: string; tenant: string }) => {
      checked.push(`${tenant}/${user}/${password}`);
      if (password !== 'right') return Promise.reject(new SkeinError('WRONG_PASSWORD', 'no'));
      return Promise.resolve({ token: `token ${checked.length}` });
    },
  };
  signIn = passwordSignIn(authenticate, catalog, () => nowMs);
});

test('a right password is remembered for five minutes, for this user and tenant alone', async () => {
  expect((await signIn('ann', 'right', HERE)).token).toBe('token 1');
  nowMs = 299_999;
  expect((await signIn('ann', 'right', { ...HERE, address: '10.0.0.2' })).token).toBe('token 1');
  await signIn('bob', 'right', HERE);
  await signIn('ann', 'right', { ...HERE, tenant: 'other' });
  expect(checked).toEqual(['/ann/right', '/bob/right', 'other/ann/right']);
  nowMs = 300_000;
  expect((await signIn('ann', 'right', HERE)).token).toBe('token 4');
});

test('it is forgotten when its token no longer holds', async () => {
  await signIn('ann', 'right', HERE);
  revoked.add('token 1');
  expect((await signIn('ann', 'right', HERE)).token).toBe('token 2');
});

test('a wrong password is checked each time, and calls at once share a check', async () => {
  for (let i = 0; i < 2; i += 1) {
    await expect(signIn('ann', 'wrong', HERE)).rejects.toMatchObject({ code: 'WRONG_PASSWORD' });
  }
  expect(checked).toHaveLength(2);
  const tokens = await Promise.all([1, 2, 3].map(async () => (await signIn('ann', 'right', HERE)).token));
  expect([new Set(tokens).size, checked.length]).toEqual([1, 3]);
});

test('an access token of the user stands for its password, in its own tenant', async () => {
  expect(await signIn('ann', TOKEN, HERE)).toMatchObject({ token: TOKEN });
  expect(await signIn('ann', TOKEN, { ...HERE, tenant: 'default' })).toMatchObject({ token: TOKEN });
  await expect(signIn('bob', TOKEN, HERE)).rejects.toMatchObject({ code: 'WRONG_PASSWORD' });
  await expect(signIn('ann', TOKEN, { ...HERE, tenant: 'other' })).rejects.toMatchObject({ code: 'WRONG_PASSWORD' });
  expect(checked).toEqual([]);
});

test('a personal access token is taken as a bearer, and exchanged; other bearers go on as they are', async () => {
  const places: unknown[] = [];
  const caller = { claims: {} as TokenClaims, decisions: new Map() };
  const bearer = withAccessTokens(
    (authorization) => Promise.reject(new SkeinError('UNAUTHENTICATED', authorization ?? 'none')),
    (user, password, place) => {
      places.push([user, password, place]);
      return Promise.resolve({ caller, token: 't' });
    },
  );
  expect(await bearer('bearer skein_pat_a', '10.0.0.1')).toBe(caller);
  expect(places).toEqual([['', 'skein_pat_a', HERE]]);
  for (const other of ['Bearer eyJ', 'Basic skein_pat_a', undefined]) {
    await expect(bearer(other)).rejects.toMatchObject({ message: other ?? 'none' });
  }
});
