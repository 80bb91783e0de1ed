import { Metadata } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { Connections } from './connections.ts';
import { SessionEnds } from './session-ends.ts';
import { Visits } from './visit.ts';

test('the address that sign-ins count is that of the client behind a trusted proxy', async () => {
  const seen: string[] = [];
  const refuse = (address: string): Promise<never> => {
    seen.push(address);
    return Promise.reject(new SkeinError('UNAUTHENTICATED', 'no'));
  };
  using ends = new SessionEnds({ nowMs: () => 0, sessionsMax: 1, intervalMs: 1_000, end: () => Promise.resolve() });
  const visits = new Visits({
    authenticate: (_header, address = 'none') => refuse(address),
    signIn: (_user, _password, { address }) => refuse(address),
    sessions: undefined as never,
    connections: new Connections(1),
    newcomers: { begin: () => () => undefined, signedIn: () => undefined },
    ends,
    nowMs: () => 0,
    trustedProxies: ['10.0.0.0/8'],
  });
  const call = async (peer: string, authorization: string): Promise<void> => {
    const metadata = new Metadata();
    metadata.set('authorization', authorization);
    metadata.set('x-forwarded-for', '6.6.6.6, 1.2.3.4');
    await expect(visits.signIn({ metadata, getPeer: () => peer })).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  };
  for (const credentials of ['Bearer x', `Basic ${Buffer.from('u:p').toString('base64')}`]) {
    await call('10.0.0.1:5000', credentials);
    await call('11.0.0.1:5000', credentials);
  }
  expect(seen).toEqual(['1.2.3.4', '11.0.0.1', '1.2.3.4', '11.0.0.1']);
});
