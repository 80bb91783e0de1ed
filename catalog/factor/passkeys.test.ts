import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import { madePasskey, relyingParty, shownAssertion } from './passkeys.ts';

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

/** The answer of a browser that has made a passkey, without an attestation, which anybody can make. */
function registration(credentialId: Buffer, transports?: unknown): string {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const cose = ['a5010203262001215820', Buffer.from(x, 'base64url').toString('hex'), '225820'];
  const key = Buffer.from(`${cose.join('')}${Buffer.from(y, 'base64url').toString('hex')}`, 'hex');
  const head = Buffer.alloc(23);
  head.writeUInt8(0x45, 0);
  head.writeUInt16BE(credentialId.length, 21);
  const data = Buffer.concat([createHash('sha256').update(site.id).digest(), head, credentialId, key]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(data.length);
  // {"fmt": "none", "attStmt": {}, "authData": data}
  const begin = Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746159', 'hex');
  const client = JSON.stringify({
    type: 'webauthn.create',
    challenge: CHALLENGE,
    origin: site.origin,
    crossOrigin: false,
  });
  const id = credentialId.toString('base64url');
  const response = {
    clientDataJSON: Buffer.from(client).toString('base64url'),
    attestationObject: Buffer.concat([begin, length, data]).toString('base64url'),
    transports,
  };
  return JSON.stringify({ id, rawId: id, type: 'public-key', clientExtensionResults: {}, response });
}

test.each([
  [
    ['usb', 'internal'],
    ['internal', 'usb'],
  ],
  [['usb', 'usb', 'new', 'a\0b', 7, null, ['nfc'], { a: 1 }], ['usb']],
  ['usb', []],
  [null, []],
  [5, []],
  [undefined, []],
  [Array.from({ length: 1_000 }, () => 'ble'), ['ble']],
])('of the ways %j to a new passkey %j are kept', async (transports, kept) => {
  const made = await madePasskey(site, CHALLENGE, registration(Buffer.alloc(16, 7), transports));
  expect(made).toMatchObject({ credentialId: Buffer.alloc(16, 7).toString('base64url'), counter: 0, transports: kept });
});

test('an id of a credential is as long as one may be, and no longer', async () => {
  const made = (bytes: number) => madePasskey(site, CHALLENGE, registration(Buffer.alloc(bytes, 7), []));
  expect((await made(1_023))?.credentialId).toHaveLength(1_364);
  expect(await made(1_024)).toBeUndefined();
  expect(await made(3_000)).toBeUndefined();
});
