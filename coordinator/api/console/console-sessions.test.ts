import { describe, expect, it } from 'vitest';
import { consoleLink, CONSOLE_CODE_TTL_MS, makeConsoleCode, openConsoleCode } from '#shared/console/console-code.ts';
import { fixedKeyring } from '#shared/keyring.ts';
import { cookieName, readCookie, setCookies } from './console-cookie.ts';
import { ConsoleSessions } from './console-sessions.ts';

const keyring = fixedKeyring('a secret of the cluster');
const TOKEN = `ey${'x'.repeat(6_000)}`;

const ended: string[] = [];
const people = {
  tokenOf: (id: string) => Promise.resolve(`token of ${id}`),
  end: (id: string) => Promise.resolve(void ended.push(id)),
};

function sessionsAt(clock: { nowMs: number }): ConsoleSessions {
  return new ConsoleSessions({ keyring, ttlMs: 1_000_000, nowMs: () => clock.nowMs, people });
}

describe('a session of the console', () => {
  it('keeps a long token through cookies, sealed', async () => {
    const sessions = sessionsAt({ nowMs: 0 });
    const { value, maxAgeS } = sessions.seal(TOKEN, 10_000);
    const name = cookieName(8080, false);
    const headers = setCookies(name, value, { isSecure: false, maxAgeS });
    expect(headers.every((header) => header.length < 4_096 && header.includes('HttpOnly; SameSite=Strict'))).toBe(true);
    expect(headers.join()).not.toContain(TOKEN.slice(0, 100));
    const cookie = headers.map((header) => header.split(';')[0]).join('; ');
    expect(await sessions.tokenOf(readCookie(cookie, name) ?? '')).toBe(TOKEN);
    expect(readCookie(cookie, cookieName(8081, false))).toBeUndefined();
  });

  it('ends with its token, after its own time, and when it is signed out', async () => {
    const clock = { nowMs: 0 };
    const sessions = sessionsAt(clock);
    const short = sessions.seal(TOKEN, 10).value;
    const long = sessions.seal(TOKEN, 1_000_000).value;
    const left = sessions.seal(TOKEN, 1_000_000).value;
    clock.nowMs = 10_000;
    await expect(sessions.tokenOf(short)).rejects.toThrow(/has ended/);
    await sessions.end(left);
    await expect(sessions.tokenOf(left)).rejects.toThrow(/has ended/);
    expect(await sessions.tokenOf(long)).toBe(TOKEN);
    clock.nowMs = 1_000_000;
    await expect(sessions.tokenOf(long)).rejects.toThrow(/has ended/);
  });

  it('of a person has no token in it, and ends with the sign-in', async () => {
    const sessions = sessionsAt({ nowMs: 0 });
    const { value, maxAgeS } = sessions.sealSignIn({ id: 'one', endsAtMs: 5_000_000 });
    expect([await sessions.tokenOf(value), maxAgeS]).toEqual(['token of one', 1_000]);
    await sessions.end(value);
    expect(ended).toEqual(['one']);
    await expect(sessions.tokenOf(value)).rejects.toThrow(/has ended/);
  });

  it('is not made by anybody else, and a code of a link is none', async () => {
    const sessions = sessionsAt({ nowMs: 0 });
    const others = new ConsoleSessions({ keyring: fixedKeyring('other'), ttlMs: 1, nowMs: () => 0, people });
    for (const cookie of [others.seal(TOKEN, 1).value, makeConsoleCode(TOKEN, keyring, 0), '']) {
      await expect(sessions.tokenOf(cookie)).rejects.toThrow(/not valid/);
    }
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
