import { describe, expect, test } from 'vitest';
import { parseRedirect, SHOWN_CODE, TERMINAL_CLIENT } from '#shared/config/sign-in-redirect.ts';
import { signInClient } from './sign-in-client.ts';

const REDIRECTS = ['notebook=https://notebooks.example.com/back?at=1', 'notebook=https://b.example.com/', 'broken'];

describe('where a code may go', () => {
  test.each(['http://127.0.0.1:1/callback', 'http://127.0.0.1:65535/callback', SHOWN_CODE])('terminal: %s', (uri) => {
    expect(signInClient(REDIRECTS, TERMINAL_CLIENT, uri)).toMatchObject({ redirectUri: uri, asks: true });
  });

  test.each([
    'http://127.0.0.1/callback',
    'http://127.0.0.1:0/callback',
    'http://127.0.0.1:65536/callback',
    'http://127.0.0.1:080/callback',
    'http://127.0.0.1:80/callback/',
    'http://127.0.0.1:80/callback?x=1',
    'http://127.0.0.1:80/callback#x',
    'http://127.0.0.1:80/Callback',
    'http://127.0.0.1:80/callback\n',
    'http://127.0.0.1:80@evil.example/callback',
    'http://127.0.0.1.evil.example:80/callback',
    'http://localhost:80/callback',
    'https://127.0.0.1:80/callback',
    'http://[::1]:80/callback',
    'http://127.1:80/callback',
    'javascript:alert(1)//http://127.0.0.1:80/callback',
    'https://notebooks.example.com/back?at=1',
    '',
  ])('not a terminal’s: %s', (uri) => {
    expect(signInClient(REDIRECTS, TERMINAL_CLIENT, uri)).toBeUndefined();
  });

  test('addresses of the configuration are compared to the letter', () => {
    const listed = 'https://notebooks.example.com/back?at=1';
    expect(signInClient(REDIRECTS, 'notebook', listed)).toEqual({
      clientId: 'notebook',
      redirectUri: listed,
      asks: false,
    });
    for (const other of [
      'https://notebooks.example.com/back',
      `${listed}2`,
      `${listed}#x`,
      'https://NOTEBOOKS.example.com/back?at=1',
      'https://b.example.com',
      'https://b.example.com/../',
    ]) {
      expect(signInClient(REDIRECTS, 'notebook', other)).toBeUndefined();
    }
    expect(signInClient(REDIRECTS, 'other', listed)).toBeUndefined();
    expect(signInClient(REDIRECTS, 'broken', '')).toBeUndefined();
  });

  test.each([
    'x',
    'x=',
    '=https://a',
    'x=javascript:alert(1)',
    'x=https://a/#b',
    'x=https://u:p@a/',
    'skein-cli=https://a/',
    'X=https://a/',
  ])('no entry: %s', (text) => {
    expect(parseRedirect(text)).toBeUndefined();
  });
});
