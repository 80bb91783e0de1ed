import type { KeyAlgorithm } from '#shared/principal/key-algorithm.ts';

const RSA = `-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA3uwPXVfbUtC98BsSQiMa
NSugb73Q54//pv4d2Y8WOb0fRCo7048AUcF/dPnh0IQknWiT28x8f7IvXXTEfpb7
swE/b1lUXMKNOrvR/pTk+dNbm5odetJtqvTLLyna13GK1PI1h/hd0xfy2D17ZcG5
AksvC0GUuSaxGAOp90rmzzwDpWkFC1ohGIlA0eWPrl9KqsEjHX+JlpeBOgQIW8Ad
a++/ap1/afCkUJyssGHtfk+jD+lFTKKzL0AUnWN5DXEM6yHRmDv4cUkDliNdQovg
Mv9zJnY1XOm/hpwL++y7IBH9uMP+zHub1s1PELw+JqZi/iDsKOwIMHL7+IzwBVCx
TQIDAQAB
-----END PUBLIC KEY-----`;
const P256 = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEL6DeT17NbM3QgE6qdIsEQMvvdluH
7YzpN7RAj0spCsynEvqn/7Z3BAQ9TyAXX6BYc0r3XFpYau3VC+6/wkG5zA==
-----END PUBLIC KEY-----`;
const P384 = `-----BEGIN PUBLIC KEY-----
MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAE/Zj4Y/ig4/aXFUgRKbBCUfV3QmpvU8eC
b4pG1E8Sb4joOOGQhIWff5TzPYNhi9qxnj2wLcbQGXA3TL39Dv1gbNbs95MSyfdU
h6izn6w0ZeSMrKjD5qc4ZsmsgbO0fh2c
-----END PUBLIC KEY-----`;

/** Public keys whose private halves were thrown away. An assertion of an unknown account is verified by one, so that it takes as long. */
export const NOBODYS_KEYS: Readonly<Record<KeyAlgorithm, string>> = {
  RS256: RSA,
  RS512: RSA,
  ES256: P256,
  ES384: P384,
};
