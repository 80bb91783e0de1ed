import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import type { Logger } from '#shared/log/logger.ts';
import { WatchedFiles } from '#shared/watched-files.ts';

/** The authorities whose certificates are taken of servers that tenants name. */
export type Authorities = Disposable & { readonly current: () => SecureContext };

/** The usual authorities, and that of `webhook.ca_file`, which is read again when it changes. @throws INVALID_CONFIGURATION */
export function openAuthorities(config: Config, log: Logger): Authorities {
  const path = config['webhook.ca_file'];
  if (path === '') {
    const context = createSecureContext({ ca: getCACertificates('default') });
    return { current: () => context, [Symbol.dispose]: () => undefined };
  }
  const files = new WatchedFiles({
    paths: [path],
    parse: ([content]) => trusting(path, String(content)),
    intervalMs: config['cluster.reload_interval'],
    log,
  });
  return { current: () => files.value, [Symbol.dispose]: () => files[Symbol.dispose]() };
}

function trusting(path: string, pem: string): SecureContext {
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) {
    throw new SkeinError('INVALID_CONFIGURATION', `webhook.ca_file: ${path} has no certificate`);
  }
  try {
    return createSecureContext({ ca: [...getCACertificates('default'), pem] });
  } catch (cause) {
    throw new SkeinError('INVALID_CONFIGURATION', `webhook.ca_file: ${path} cannot be read as PEM`, { cause });
  }
}
