import { setTimeout as sleep } from 'node:timers/promises';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { startCatalog } from '#catalog/main.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { must } from '#shared/must.ts';
import { startTestCatalog } from '#test/support/catalog.ts';

const ROTATION_MS = 4_000;
const REQUESTS = 2_000;
const INTERVAL_MS = 10;
/** Maximum number of requests in flight: on a busy machine requests take longer, and must not pile up. */
const IN_FLIGHT_MAX = 50;

/**
 * Runs two catalogs on one database, a service that verifies by the key set of one of them as the coordinator does, and 100 requests a
 * second: to the catalogs in turn, with tokens of either, old and new.
 */
test('keys rotate under 100 requests a second, and no request fails', async () => {
  await using catalog = await startTestCatalog({
    'catalog.key_rotation': ROTATION_MS,
    'catalog.token_rate_address': 1_000_000,
    'catalog.token_rate_principal': 1_000_000,
  });
  const second = await startCatalog(catalog.config, silentLogger);
  try {
    const urls = [catalog.running.url, second.url];
    const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', second.url), {
      cooldownDuration: 500,
      timeoutDuration: 60_000,
    });
    const client = await catalog.call<{ client_id: string; client_secret: string }>('CreateClient', {
      tenant: 'default',
      name: 'steady',
    });
    const tokens: string[] = [catalog.token];
    const failures: string[] = [];
    const kids = new Set<string>();

    const sign = async (url: string): Promise<void> => {
      const response = await fetch(`${url}/v1/oauth/tokens`, {
        method: 'POST',
        body: new URLSearchParams({ grant_type: 'client_credentials', ...client }),
      });
      if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
      const { access_token: token } = (await response.json()) as { access_token: string };
      kids.add(decodeProtectedHeader(token).kid ?? '');
      await jwtVerify(token, keys, { issuer: 'skein', audience: 'skein' });
      tokens.push(token);
    };
    const use = async (url: string, token: string): Promise<void> => {
      const response = await fetch(`${url}/v1/lake/namespaces`, { headers: { authorization: `Bearer ${token}` } });
      if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
      await response.arrayBuffer();
    };

    const pending = new Set<Promise<void>>();
    const startedMs = performance.now();
    for (let sent = 0; sent < REQUESTS; sent += 1) {
      if (pending.size >= IN_FLIGHT_MAX) await Promise.race(pending);
      const url = must(urls[sent % 2], 'two of them');
      // Every fourth asks for a token; of the others half use the newest one, half any.
      const token = must((sent % 8 < 4 ? undefined : tokens[sent % tokens.length]) ?? tokens.at(-1), 'there is one');
      const request = (sent % 4 === 0 ? sign(url) : use(url, token))
        .catch((error: unknown) => void failures.push(String(error)))
        .finally(() => pending.delete(request));
      pending.add(request);
      // As many as the time that passed asks for, however late the timer is.
      const aheadMs = sent * INTERVAL_MS - (performance.now() - startedMs);
      if (aheadMs > 0) await sleep(aheadMs);
    }
    await Promise.all(pending);
    expect(failures).toEqual([]);
    // A key is made every 4 s: at least three have signed, and the oldest still verifies.
    expect(kids.size).toBeGreaterThanOrEqual(3);
    const { body } = await catalog.rest('GET', '/.well-known/jwks.json', { token: null });
    expect((body['keys'] as { kid: string }[]).map(({ kid }) => kid)).toEqual(expect.arrayContaining([...kids]));
  } finally {
    await second.close();
  }
});
