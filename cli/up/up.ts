import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { SkeinError } from '#shared/error.ts';
import { bucketOf } from '../bucket-flags.ts';
import type { Flags } from '../command.ts';
import { EXIT, exitCodeOf, type ExitCode } from '../exit-code.ts';
import { runCluster, type Voice } from './launcher.ts';

/**
 * `skein up`: a cluster on this machine, in the foreground. Standard output carries JSON lines only (`ready`, `exited`, `restarted`,
 * `admin_password`, `stopped`, `failed`), standard error text for people.
 */
export async function up(given: LoadedConfig, flags: Flags): Promise<ExitCode> {
  const voice = standardVoice();
  const stop = new AbortController();
  // Repeated signals, also of different kinds, count as a single stop.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
  try {
    const bucket = bucketOf(flags);
    const loaded: LoadedConfig = flags.has('tls') ? { ...given, config: { ...given.config, 'up.tls': 'on' } } : given;
    return await runCluster(loaded, { voice, bucket }, stop.signal);
  } catch (thrown) {
    return failedStart(thrown, voice);
  }
}

/** Reports on both streams why the start failed. */
export function failedStart(thrown: unknown, voice: Voice = standardVoice()): ExitCode {
  const error =
    thrown instanceof SkeinError
      ? thrown
      : new SkeinError('START_FAILED', thrown instanceof Error ? thrown.message : String(thrown));
  voice.event({ event: 'failed', code: error.code, message: error.message });
  voice.tell(`skein up: ${error.message}`);
  return error.code === 'INVALID_CONFIGURATION' ? exitCodeOf(error) : EXIT.failed;
}

function standardVoice(): Voice {
  // A closed output must not stop the cluster.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  return {
    event: (line) => void process.stdout.write(`${JSON.stringify(line)}\n`),
    tell: (line) => void process.stderr.write(`${line}\n`),
  };
}
