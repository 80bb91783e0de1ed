import { spawnSync } from 'node:child_process';
import { accessSync, constants, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { machineMemory } from '#shared/config/machine-memory.ts';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { SkeinError } from '#shared/error.ts';
import { findCluster } from '../cluster-file.ts';
import { serviceStates } from '../status.ts';
import { smallMachine } from '../up/divide-memory.ts';
import { postgresBinaries } from '../up/postgres-process.ts';
import { choosePorts } from '../up/ports.ts';
import { failed, nearestFolder, ok, warning, type Finding } from './finding.ts';

const NODE_MAJOR_MIN = 24;
const DISK_FREE_MIN = 2 * 2 ** 30;

const gibibytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`;

type Checks = Readonly<Record<string, (loaded: LoadedConfig) => Promise<Finding>>>;

/** The checks of any machine, in the order in which they run; a check that throws has failed. */
export const MACHINE_CHECKS: Checks = {
  node: async () => {
    const major = Number(process.versions.node.split('.')[0]);
    return major >= NODE_MAJOR_MIN ? ok(process.version) : failed(`${process.version}; ${NODE_MAJOR_MIN} is needed`);
  },

  duckdb: async () => {
    const { duckDbVersion } = await import('#worker/duckdb/instance.ts');
    return ok(`libduckdb ${duckDbVersion()}, called through koffi`);
  },

  argon2: async () => {
    const { default: argon2 } = await import('argon2');
    const hash = await argon2.hash('doctor');
    return (await argon2.verify(hash, 'doctor')) ? ok('hashes and verifies') : failed('does not verify its own hash');
  },

  'data directory': async ({ config }) => {
    const folder = nearestFolder(config.data_dir);
    try {
      accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    } catch {
      return failed(`${folder} cannot be written by this user`);
    }
    return ok(folder === config.data_dir ? config.data_dir : `${config.data_dir} will be made`);
  },

  disk: async ({ config }) => {
    const { bavail, bsize } = statfsSync(nearestFolder(config.data_dir));
    const free = bavail * bsize;
    return free < DISK_FREE_MIN ? warning(`only ${gibibytes(free)} free`) : ok(`${gibibytes(free)} free`);
  },

  memory: async ({ config, sources }) => {
    const total = machineMemory();
    // The default is divided among the workers when they start.
    const own = sources['worker.memory_limit'] !== 'default';
    const wanted = own ? config['worker.memory_limit'] * config['up.workers'] : 0;
    if (wanted > total)
      return warning(`${config['up.workers']} workers may use ${gibibytes(wanted)} of ${gibibytes(total)}`);
    const objection = smallMachine(total);
    return objection === undefined ? ok(gibibytes(total)) : warning(objection);
  },

  cores: async () => ok(String(availableParallelism())),
};

/** Further checks of a machine that runs a whole cluster. */
export const CHECKS: Checks = {
  postgres: async ({ config }) => {
    if (config['database.url'] !== '') return ok('an external one is configured (database.url)');
    const { postgres } = postgresBinaries();
    const { status, stdout, stderr, error } = spawnSync(postgres, ['--version'], { encoding: 'utf8' });
    if (status === 0) return ok(stdout.trim());
    return failed(`${postgres} does not run: ${error?.message ?? stderr.trim()}; were install scripts allowed?`);
  },

  ports: async ({ config }) => {
    if (isRunning(config.data_dir)) return ok('in use by this cluster');
    await choosePorts(config);
    return ok('free');
  },

  cluster: async ({ config }) => {
    if (!isRunning(config.data_dir)) return ok(`none runs in ${config.data_dir}`);
    const services = await serviceStates(config);
    const down = services.filter(({ state }) => state === 'down').map(({ name }) => name);
    return down.length === 0 ? ok(`all ${services.length} services are up`) : failed(`down: ${down.join(', ')}`);
  },
};

function isRunning(dataDir: string): boolean {
  try {
    findCluster(dataDir);
    return true;
  } catch (error) {
    if (SkeinError.of(error).code === 'NO_CLUSTER') return false;
    throw error;
  }
}
