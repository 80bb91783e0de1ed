import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

/** A program of another project that some suites need and npm does not install. */
export type Peer = {
  readonly name: string;
  /** Commands that must be on the path. */
  readonly commands: readonly string[];
  /** A command line that must succeed as well. */
  readonly probe?: readonly string[];
  /** Debian's packages that bring them. */
  readonly packages: readonly string[];
  /** The module through which suites use it: a suite that imports it, or imports what imports it, needs the peer. */
  readonly module: string;
};

export const PEERS: readonly Peer[] = [
  {
    name: 'etcd',
    commands: ['etcd'],
    packages: ['etcd-server'],
    module: 'test/support/etcd.ts',
  },
  {
    name: 'curl',
    commands: ['curl'],
    packages: ['curl'],
    module: 'test/support/curl.ts',
  },
  {
    name: 'chromium',
    commands: ['chromium'],
    packages: ['chromium'],
    module: 'test/support/chromium.ts',
  },
  {
    name: 'Go, which builds MinIO',
    commands: ['go'],
    packages: ['golang'],
    module: 'test/support/minio.ts',
  },
  {
    name: 'Go, which builds a client by pgx',
    commands: ['go'],
    packages: ['golang'],
    module: 'test/support/pgx-client.ts',
  },
  {
    name: 'psql and pgbench',
    commands: ['psql', 'pgbench'],
    packages: ['postgresql-client', 'postgresql-contrib'],
    module: 'test/support/postgres-programs.ts',
  },
  {
    name: 'psqlODBC',
    // `isql` comes with the driver manager's library, which the driver's package does not bring.
    commands: ['odbcinst', 'isql'],
    probe: ['odbcinst', '-q', '-d', '-n', 'PostgreSQL Unicode'],
    packages: ['odbc-postgresql', 'odbcinst', 'unixodbc'],
    module: 'test/support/psqlodbc.ts',
  },
  {
    name: 'Java with Maven',
    commands: ['mvn', 'javac'],
    packages: ['maven', 'default-jdk-headless'],
    module: 'test/support/java.ts',
  },
  {
    name: 'Python with venv',
    commands: ['python3'],
    // Debian's python3 does not include it.
    probe: ['python3', '-c', 'import ensurepip, venv'],
    packages: ['python3', 'python3-venv'],
    module: 'test/support/python.ts',
  },
];

const ROOT = join(import.meta.dirname, '../..');
const FOLDERS = ['shared', 'catalog', 'coordinator', 'worker', 'cli', 'bench', 'test'];

/** A peer that this machine lacks, and the suites that cannot run without it, as paths from the project's folder. */
export type MissingPeer = { readonly peer: Peer; readonly suites: readonly string[] };

export function missingPeers(): readonly MissingPeer[] {
  const missing = PEERS.filter((peer) => !isThere(peer));
  if (missing.length === 0) return [];
  const sources = readSources();
  return missing.map((peer) => ({ peer, suites: suitesThatReach(sources, peer.module) }));
}

/** Every test file whose imports lead to `module`. Pure. */
export function suitesThatReach(sources: Sources, module: string): readonly string[] {
  const reaching = new Set([module]);
  for (let size = 0; size < reaching.size;) {
    size = reaching.size;
    for (const [path, imports] of sources) if (imports.some((one) => reaching.has(one))) reaching.add(path);
  }
  return [...reaching].filter((path) => path.endsWith('.test.ts')).sort();
}

/** The project's modules, each with the modules of the project that it imports. */
export type Sources = ReadonlyMap<string, readonly string[]>;

export function readSources(): Sources {
  const paths = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => join(folder, path)),
  );
  return new Map(paths.map((path) => [path, importsOf(path, readFileSync(join(ROOT, path), 'utf8'))]));
}

const importsOf = (path: string, source: string): readonly string[] =>
  [...source.matchAll(/\bfrom '([#.][^']+)'/g)].map(([, from = '']) =>
    from.startsWith('#') ? from.slice(1) : join(dirname(path), from),
  );

function isThere({ commands, probe }: Peer): boolean {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  if (!commands.every((command) => folders.some((folder) => existsSync(join(folder, command))))) return false;
  const [command, ...args] = probe ?? [];
  try {
    if (command !== undefined) execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
