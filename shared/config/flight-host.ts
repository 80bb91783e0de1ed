import type { Config } from './config-schema.ts';
import { isLoopback } from './loopback.ts';

/** The host of a door that has no certificate. */
const PLAINTEXT_HOST = '127.0.0.1';

/** The host on which Flight SQL listens: without a certificate it is on loopback, whatever `host` says, unless the operator insists. */
export const flightHost = (config: Config): string =>
  config['coordinator.tls_cert'] !== '' ||
  config['coordinator.plaintext_beyond_loopback'] === 'on' ||
  isLoopback(config.host)
    ? config.host
    : PLAINTEXT_HOST;
