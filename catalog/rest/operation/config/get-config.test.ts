import { expect, test } from 'vitest';
import { defaultConfig } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import type { CatalogContext } from '../../../context.ts';
import { capabilitiesOf } from '../../capabilities.ts';
import { getConfig } from './get-config.ts';

const refuse = (): never => {
  throw new Error('the configuration was looked up');
};
/** A catalog whose store may not be asked. */
const context = {
  config: defaultConfig(),
  endpoints: ['GET /v1/config'],
  bearers: { verify: () => Promise.reject(new SkeinError('UNAUTHENTICATED', 'a bearer token is needed')) },
  store: new Proxy({}, { get: refuse }),
} as unknown as CatalogContext;

const ask = (warehouse: string) =>
  getConfig(context, { params: {}, query: { warehouse }, headers: {}, remoteAddress: '192.0.2.1', origin: undefined });

test.each(['lake', 'none', '', 'a\0b', 'a/b', '\u{1F986}', 'x'.repeat(10_000)])(
  'without a token the warehouse %j is answered as any, and nothing is looked up',
  async (name) => {
    const { status, body } = await ask(name);
    expect(status).toBe(200);
    expect(body).toEqual({
      defaults: { prefix: name },
      overrides: { prefix: name },
      endpoints: ['GET /v1/config'],
      capabilities: capabilitiesOf(['GET /v1/config']),
      'idempotency-key-lifetime': 'PT1800S',
    });
  },
);
