import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SkeinError } from '#shared/error.ts';
import type { JsonObject } from '#shared/json.ts';
import { processIdentity } from './process-identity.ts';

/** The line that `skein up` prints when every service answers, and the contents of `ready.json`. */
export type ReadyLine = {
  readonly event: 'ready';
  readonly catalog_url: string;
  readonly query_url: string;
  /** Null: `coordinator.console` is off. */
  readonly console_url: string | null;
  readonly flight_sql_url: string | null;
  readonly postgres_url: string | null;
  /** File of the authority that `skein up --tls` made; null: the doors have no certificate, or the operator's. */
  readonly tls_ca: string | null;
  readonly tenant: string;
  readonly catalog: string;
  readonly user: string;
  readonly workers: number;
  readonly data_dir: string;
  readonly pid: number;
};

export type ServiceKind = 'postgres' | 'catalog' | 'coordinator' | 'worker';

/** A process of the cluster. `identity` tells whether `pid` is still that process (`processIdentity`). */
export type ServiceRecord = {
  readonly kind: ServiceKind;
  readonly name: string;
  readonly pid: number;
  readonly identity: string;
  readonly url: string | null;
  /** URL of a worker's Prometheus metrics; catalog and coordinator serve theirs at `url`. */
  readonly metrics_url?: string;
};

/** `services.json`: the launcher's state that commands need; it holds no secrets. */
export type ServicesFile = {
  readonly launcher: { readonly pid: number; readonly identity: string };
  readonly catalog_internal_url: string;
  /** Files of certificates of the doors and their authority, which commands trust. */
  readonly door_certificates: readonly string[];
  readonly services: readonly ServiceRecord[];
  /** Non-default settings of the cluster, with text and source by key. Secrets are left out. */
  readonly settings: Readonly<Record<string, { readonly text: string; readonly source: string }>>;
};

export const readyPath = (dataDir: string): string => join(dataDir, 'ready.json');
export const servicesPath = (dataDir: string): string => join(dataDir, 'services.json');

/** Writes a file atomically: a reader sees either the old contents or the new. */
export function writeWhole(path: string, document: object): void {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, `${JSON.stringify(document)}\n`, { mode: 0o644 });
  renameSync(temporary, path);
}

export const removeClusterFiles = (dataDir: string): void => {
  rmSync(readyPath(dataDir), { force: true });
  rmSync(servicesPath(dataDir), { force: true });
};

/** Reads `services.json`, also that of a killed cluster; undefined when it is missing or unreadable. */
export function readServices(dataDir: string): ServicesFile | undefined {
  const file = readJson(servicesPath(dataDir));
  return file !== undefined && Array.isArray(file['services']) ? (file as unknown as ServicesFile) : undefined;
}

export type RunningCluster = { readonly ready: ReadyLine; readonly services: ServicesFile };

/** Finds the cluster that runs in a data directory. @throws NO_CLUSTER */
export function findCluster(dataDir: string): RunningCluster {
  const ready = readJson(readyPath(dataDir)) as unknown as ReadyLine | undefined;
  if (ready === undefined) {
    throw new SkeinError('NO_CLUSTER', `no cluster runs in ${dataDir} (no ready.json); start one with: skein up`);
  }
  const services = readServices(dataDir);
  if (services === undefined || processIdentity(services.launcher.pid) !== services.launcher.identity) {
    throw new SkeinError('NO_CLUSTER', `the cluster of ${dataDir} has ended (its launcher, pid ${ready.pid}, is gone)`);
  }
  return { ready, services };
}

function readJson(path: string): JsonObject | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as JsonObject;
  } catch {
    return undefined;
  }
}
