import { describe, expect, it } from 'vitest';
import { consoleLink, CONSOLE_CODE_TTL_MS, makeConsoleCode, openConsoleCode } from '#shared/console/console-code.ts';
import { fixedKeyring } from '#shared/keyring.ts';
import { cookieName, readCookie, setCookies } from './console-cookie.ts';
import { ConsoleSessions } from './console-sessions.ts';

const keyring = fixedKeyring('a secret of the cluster');
const TOKEN = `ey${'x'.repeat(6_000)}`;

function sessionsAt(clock: { nowMs: number }): ConsoleSessions {
  return new ConsoleSessions({ keyring, ttlMs: 1_000_000, nowMs: () => clock.nowMs });
}

describe('a session of the console', () => {
  it('keeps a long token through cookies, sealed', () => {
    const sessions = sessionsAt({ nowMs: 0 });
    const { value, maxAgeS } = sessions.seal(TOKEN, 10_000);
    const name = cookieName(8080, false);
    const headers = setCookies(name, value, { isSecure: false, maxAgeS });
    expect(headers.every((header) => header.length < 4_096 && header.includes('HttpOnly; SameSite=Strict'))).toBe(true);
    expect(headers.join()).not.toContain(TOKEN.slice(0, 100));
    const cookie = headers.map((header) => header.split(';')[0]).join('; ');
    expect(sessions.tokenOf(readCookie(cookie, name) ?? '')).toBe(TOKEN);
    expect(readCookie(cookie, cookieName(8081, false))).toBeUndefined();
  });

  it('ends with its token, after its own time, and when it is signed out', () => {
    const clock = { nowMs: 0 };
    const sessions = sessionsAt(clock);
    const short = sessions.seal(TOKEN, 10).value;
    const long = sessions.seal(TOKEN, 1_000_000).value;
    const left = sessions.seal(TOKEN, 1_000_000).value;
    clock.nowMs = 10_000;
    expect(() => sessions.tokenOf(short)).toThrow(/has ended/);
    sessions.end(left);
    expect(() => sessions.tokenOf(left)).toThrow(/has ended/);
    expect(sessions.tokenOf(long)).toBe(TOKEN);
    clock.nowMs = 1_000_000;
    expect(() => sessions.tokenOf(long)).toThrow(/has ended/);
  });

  it('is not made by anybody else, and a code of a link is none', () => {
    const sessions = sessionsAt({ nowMs: 0 });
    const foreign = new ConsoleSessions({ keyring: fixedKeyring('other'), ttlMs: 1, nowMs: () => 0 }).seal(TOKEN, 1);
    expect(() => sessions.tokenOf(foreign.value)).toThrow(/not valid/);
    expect(() => sessions.tokenOf(makeConsoleCode(TOKEN, keyring, 0))).toThrow(/not valid/);
    expect(() => sessions.tokenOf('')).toThrow(/not valid/);
  });
});

describe('the code of a link', () => {
  it('carries the token for ten minutes, to this cluster alone', () => {
    const code = makeConsoleCode(TOKEN, keyring, 0);
    expect(openConsoleCode(code, keyring, CONSOLE_CODE_TTL_MS - 1).token).toBe(TOKEN);
    expect(() => openConsoleCode(code, keyring, CONSOLE_CODE_TTL_MS)).toThrow(/is over/);
    expect(() => openConsoleCode(code, fixedKeyring('other'), 0)).toThrow(/code of the link/);
    expect(new URL(consoleLink('http://localhost:1', code)).hash).toBe(`#code=${code}`);
  });
});
