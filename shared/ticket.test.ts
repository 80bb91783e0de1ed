import { expect, test } from 'vitest';
import { principalId, queryId, taskId, tenantId } from '#shared/id.ts';
import { fixedKeyring, type Keyring } from '#shared/keyring.ts';
import { signTicket, verifyTicket, type Ticket } from './ticket.ts';
import { credentialId } from '#shared/storage/credential.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';

const TICKET: Ticket = {
  queryId: queryId('q'),
  taskId: taskId('t'),
  tenant: tenantId('acme'),
  principal: principalId('p'),
  epoch: 1,
  expiresAtMs: 1_000,
  grants: [{ location: 'file:///w', credentialId: credentialId(FILE_CREDENTIAL) }],
  partition: 2,
};
const ring = (...accepted: readonly [string, ...string[]]): Keyring => ({ current: accepted[0], accepted });

test('a ticket is read back under the secret that signed it, and under no other', () => {
  const text = signTicket(TICKET, fixedKeyring('a'));
  expect(verifyTicket(text, fixedKeyring('a'), 0)).toEqual(TICKET);
  expect(() => verifyTicket(text, fixedKeyring('b'), 0)).toThrow('unknown key');
  expect(() => verifyTicket(text, fixedKeyring('a'), 1_001)).toThrow('expired');
});

test('no part of a ticket can be changed', () => {
  const [id, body, signature] = signTicket(TICKET, fixedKeyring('a')).split('.') as [string, string, string];
  const other = Buffer.from(JSON.stringify({ ...TICKET, tenant: 'other' })).toString('base64url');
  const [otherId] = signTicket(TICKET, fixedKeyring('b')).split('.') as [string];
  for (const text of [
    `${id}.${other}.${signature}`,
    `${id}.${body}.`,
    `${id}.${body}`,
    `.${body}.${signature}`,
    '',
    'x',
  ]) {
    expect(() => verifyTicket(text, ring('a', 'b'), 0), text).toThrow();
  }
  expect(() => verifyTicket(`${otherId}.${body}.${signature}`, ring('a', 'b'), 0)).toThrow('not valid');
});

test('through the steps of a rotation every ticket is good wherever it comes', () => {
  const steps = [ring('a'), ring('a', 'b'), ring('b', 'a'), ring('b')];
  // Between two steps some processes are at the first and some at the second.
  for (let i = 0; i + 1 < steps.length; i++) {
    const [one, other] = steps.slice(i, i + 2) as [Keyring, Keyring];
    expect(verifyTicket(signTicket(TICKET, one), i === 2 ? one : other, 0)).toEqual(TICKET);
    expect(verifyTicket(signTicket(TICKET, other), one, 0)).toEqual(TICKET);
  }
});
