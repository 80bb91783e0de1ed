import { fileURLToPath } from 'node:url';
import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import { EXIT, exitCodeOf, type ExitCode } from './exit-code.ts';
import { serviceFlags } from './node-flags.js';
import { SupervisedChild, type ChildLog } from './up/supervised-child.ts';

const SKEIN = fileURLToPath(new URL('skein.js', import.meta.url));

/** The worker's log: our standard error, which cannot be read back. */
const STANDARD_ERROR: ChildLog = { fd: 2, path: 'standard error', bytes: () => 0, lastLine: () => '' };

/**
 * `skein worker` without a launcher: the worker is a child process, restarted when it dies, and at once after an ordered exit. Standard
 * output carries JSON lines: `ready`, `exited`, `restarted`, `failed`. Signals are forwarded, and when the worker exits cleanly, so does
 * the supervisor.
 */
export async function superviseWorker(config: Config): Promise<ExitCode> {
  const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
  const service = 'worker';
  const command = [...serviceFlags('worker'), SKEIN, ...process.argv.slice(2)];
  const child = new SupervisedChild(
    {
      kind: 'worker',
      name: config['worker.name'],
      url: null,
      command,
      standbyCommand: [...command, '--standby'],
      stop: 'SIGTERM',
      restartPauseMaxMs: config['up.restart_pause_max'],
      mayEnd: true,
    },
    STANDARD_ERROR,
    {
      onStarted: () => undefined,
      onExit: (reason, restartDelayMs) => say({ event: 'exited', service, reason, restart_in_ms: restartDelayMs }),
      onRestarted: (pid, ready) => say({ event: 'restarted', service, pid, ...ready.said }),
    },
  );
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.pass(signal));
  try {
    const { said } = await child.start();
    say({ event: 'ready', service, ...said });
  } catch (thrown) {
    const error = SkeinError.of(thrown);
    say({ event: 'failed', ...error.toData() });
    return exitCodeOf(error);
  }
  const code = await child.ended;
  return code === EXIT.ok ? EXIT.ok : EXIT.failed;
}
