import { resolve, join } from 'node:path';
import type { Config } from '#shared/config/config-schema.ts';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { SkeinError } from '#shared/error.ts';
import type { ReadyLine } from '../cluster-file.ts';
import { doorFiles, doorHosts, ensureDoorCertificate } from '../certificate/door-certificate.ts';

/** Interval at which the age of the doors' certificate is looked at. */
const LOOK_MS = 12 * 3_600_000;

const folderOf = ({ data_dir: dataDir }: Config): string => resolve(dataDir, 'tls', 'doors');

/** Makes the certificate that `up.tls` asks for, and names it in the configuration. @throws INVALID_CONFIGURATION when one is named already */
export async function withDoorCertificate(loaded: LoadedConfig): Promise<LoadedConfig> {
  const { config } = loaded;
  if (config['up.tls'] === 'off') return loaded;
  if (config['coordinator.tls_cert'] !== '') {
    throw new SkeinError('INVALID_CONFIGURATION', 'up.tls makes a certificate, and coordinator.tls_cert names one');
  }
  await ensureDoorCertificate(folderOf(config), doorHosts(config));
  const { cert, key } = doorFiles(folderOf(config));
  const doors = { 'coordinator.tls_cert': cert, 'coordinator.tls_key': key };
  const catalog = config['catalog.tls_cert'] === '' ? { 'catalog.tls_cert': cert, 'catalog.tls_key': key } : {};
  return { ...loaded, config: { ...config, ...doors, ...catalog } };
}

/** Renews that certificate while the cluster runs; the coordinator reads the files again. */
export class DoorRenewal implements Disposable {
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(config: Config, voice: { readonly tell: (line: string) => void }) {
    if (config['up.tls'] === 'off') return;
    this.#timer = setInterval(() => {
      ensureDoorCertificate(folderOf(config), doorHosts(config)).catch((error: unknown) =>
        voice.tell(`the certificate of the doors was not renewed: ${(error as Error).message}`),
      );
    }, LOOK_MS).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** Files of certificates that commands of this data directory trust at the doors. */
export const doorCertificates = (config: Config): readonly string[] => {
  const { 'coordinator.tls_cert': cert, 'catalog.tls_cert': ofCatalog } = config;
  const own = [...new Set([cert, ofCatalog].filter((path) => path !== '').map((path) => resolve(path)))];
  if (own.length === 0) return [];
  return [...own, ...(config['up.tls'] === 'on' ? [doorFiles(folderOf(config)).ca] : [])];
};

/** The authority that clients are given; null: `skein up` has made none. */
export const ownAuthority = (config: Config): string | null =>
  config['up.tls'] === 'on' ? join(folderOf(config), 'ca.pem') : null;

/** Lines for other people's clients, by the first of which the authority is known. */
export function linesToPaste({
  tls_ca: ca,
  flight_sql_url: flight,
  query_url: query,
  user,
}: ReadyLine): readonly string[] {
  if (ca === null || flight === null) return [];
  const { host, port, hostname } = new URL(flight);
  return [
    `clients trust the authority in ${ca}:`,
    `  curl --cacert ${ca} ${query}/health`,
    `  adbc_driver_flightsql.dbapi.connect("${flight}", db_kwargs={"username": "${user}", "password": "...", "adbc.flight.sql.client_option.tls_root_certs": open("${ca}").read()})`,
    `  pyarrow.flight.FlightClient("grpc+tls://${host}", tls_root_certs=open("${ca}", "rb").read())`,
    `  jdbc:arrow-flight-sql://${hostname}:${port}/?useEncryption=true&tlsRootCerts=${ca}&user=${user}`,
  ];
}
