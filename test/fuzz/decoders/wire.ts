import { createHmac } from 'node:crypto';
import { principalId, queryId, taskId, tenantId } from '#shared/id.ts';
import { fixedKeyring } from '#shared/keyring.ts';
import { signTicket, verifyTicket } from '#shared/ticket.ts';
import type { Decoder } from '../decoder.ts';
import { credentialId } from '#shared/storage/credential.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';

const KEYS = fixedKeyring('secret');
const signed = signTicket(
  {
    queryId: queryId('q'),
    taskId: taskId('t'),
    tenant: tenantId('acme'),
    principal: principalId('p'),
    epoch: 1,
    expiresAtMs: 1_000,
    grants: [{ location: 'file:///w', credentialId: credentialId(FILE_CREDENTIAL) }],
    partition: 2,
  },
  KEYS,
);

/** A ticket is accepted only if it was signed with the secret. */
export const TICKET: Decoder = {
  name: 'ticket',
  samples: [Buffer.from(signed)],
  grammar: (random) => {
    const [id = '', body = '', signature = ''] = signed.split('.');
    const other = Buffer.from(random.bytes(random.below(100))).toString('base64url');
    const foreign = createHmac('sha256', 'other').update(other).digest('base64url');
    return Buffer.from(
      random.pick([`${id}.${other}.${signature}`, `${id}.${other}.${foreign}`, `${id}.${body}.${foreign}`, '..']),
    );
  },
  decode: (input) => {
    const ticket = verifyTicket(input.toString('latin1'), KEYS, 0);
    if (ticket.tenant !== 'acme' || ticket.partition !== 2) throw new Error('a forged ticket is accepted');
  },
  errors: ['UNAUTHENTICATED'],
};
