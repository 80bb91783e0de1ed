import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import { relyingParty, shownAssertion } from './passkeys.ts';

test.each([
  ['', { id: 'localhost', origin: 'http://localhost:7710' }],
  ['http://127.0.0.1:9', { id: 'localhost', origin: 'http://localhost:7710' }],
  ['https://Catalog.Example.com/', { id: 'catalog.example.com', origin: 'https://catalog.example.com' }],
  ['https://catalog.example.com:8443', { id: 'catalog.example.com', origin: 'https://catalog.example.com:8443' }],
  ['https://10.0.0.1', undefined],
  ['https://[::1]:8443', undefined],
])('passkeys of %s are bound to its name', (publicUrl, site) => {
  expect(relyingParty(publicUrl, 7710)).toEqual(site);
});

const site = { id: 'catalog.example.com', origin: 'https://catalog.example.com' };
const CHALLENGE = 'Y2hhbGxlbmdlLW9mLXRoZS1zZXJ2ZXI';
/** The person was there, and was not verified. */
const PRESENT = 1;

/** A passkey in software, and its assertions. */
function softwarePasskey(credentialId: string, counter = 4) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const cose = ['a5010203262001215820', Buffer.from(x, 'base64url').toString('hex'), '225820'];
  const row = {
    id: credentialId,
    credentialId,
    publicKey: Buffer.from(`${cose.join('')}${Buffer.from(y, 'base64url').toString('hex')}`, 'hex'),
    counter,
    transports: [],
    name: 'Passkey',
    createdAt: new Date(0),
    usedAt: null,
  };
  const show = ({
    origin = site.origin,
    rp = site.id,
    challenge = CHALLENGE,
    flags = 5,
    count = 5,
    as = credentialId,
  }) => {
    const client = Buffer.from(JSON.stringify({ type: 'webauthn.get', challenge, origin, crossOrigin: false }));
    const counted = Buffer.alloc(5);
    counted.writeUInt8(flags, 0);
    counted.writeUInt32BE(count, 1);
    const data = Buffer.concat([createHash('sha256').update(rp).digest(), counted]);
    const signed = Buffer.concat([data, createHash('sha256').update(client).digest()]);
    const response = {
      clientDataJSON: client.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: sign('sha256', signed, privateKey).toString('base64url'),
    };
    return JSON.stringify({ id: as, rawId: as, type: 'public-key', clientExtensionResults: {}, response });
  };
  return { row, show };
}

const mine = softwarePasskey('bWluZQ');
const theirs = softwarePasskey('dGhlaXJz');
const kindOf = async (text: string) => (await shownAssertion(site, [mine.row], CHALLENGE, text))?.kind;

test.each([
  ['all is right', mine.show({}), 'right'],
  ['its counter went back', mine.show({ count: 4 }), 'counter went back'],
  ['it is for another origin', mine.show({ origin: 'https://catalog.example.com.evil.example' }), undefined],
  ['it is for the same host without TLS', mine.show({ origin: 'http://catalog.example.com' }), undefined],
  ['it is for another RP id', mine.show({ rp: 'example.com' }), undefined],
  ['it answers another challenge', mine.show({ challenge: 'YW5vdGhlcg' }), undefined],
  ['the person was not verified', mine.show({ flags: PRESENT }), undefined],
  ['it is of another account', theirs.show({}), undefined],
  ['another key signs under the name of ours', theirs.show({ as: 'bWluZQ' }), undefined],
  ['it is no JSON', '{', undefined],
])('an assertion where %s', async (_, text, kind) => {
  expect(await kindOf(text)).toBe(kind);
});
