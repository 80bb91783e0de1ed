import { existsSync } from 'node:fs';
import type { Config } from '#shared/config/config-schema.ts';
import { findCluster, readyPath } from './cluster-file.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { processIdentity, signalProcess, waitUntil } from './process-identity.ts';

/** The launcher stops everything in under five seconds; more is a fault. */
const STOP_TIMEOUT_MS = 15_000;

/** `skein down`: asks the launcher to stop, and waits until it has. @throws NO_CLUSTER */
export async function down(config: Config): Promise<ExitCode> {
  const { launcher } = findCluster(config.data_dir).services;
  const lives = (): boolean => processIdentity(launcher.pid) === launcher.identity;
  signalProcess(launcher.pid, 'SIGTERM');
  const stopped = await waitUntil(() => !lives() && !existsSync(readyPath(config.data_dir)), STOP_TIMEOUT_MS);
  if (stopped) return EXIT.ok;
  process.stderr.write(
    `skein: the launcher (pid ${launcher.pid}) has not stopped within ${STOP_TIMEOUT_MS / 1000} s\n`,
  );
  return EXIT.failed;
}
