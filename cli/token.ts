import { parseDuration } from '#shared/config/parse-setting.ts';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { SkeinError } from '#shared/error.ts';
import type { Flags } from './command.ts';
import { EXIT, UsageError, type ExitCode } from './exit-code.ts';
import { findTarget, mintToken } from './catalog-rpc.ts';

/** `skein token`: a bearer token on standard output, and nothing else. */
export async function token(loaded: LoadedConfig, flags: Flags): Promise<ExitCode> {
  const ttlMs = ttlOf(flags.text('ttl'));
  const minted = await mintToken(findTarget(loaded), {
    tenant: flags.text('tenant'),
    user: flags.text('user'),
    ttlMs,
    scope: (flags.text('scope') ?? '').split(/\s+/).filter((scope) => scope !== ''),
  });
  process.stdout.write(`${minted}\n`);
  return EXIT.ok;
}

function ttlOf(text: string | undefined): number {
  if (text === undefined) return 0;
  try {
    const ttlMs = parseDuration(text);
    if (ttlMs > 0) return ttlMs;
  } catch (error) {
    throw new UsageError(`--ttl: ${SkeinError.of(error).message}`);
  }
  throw new UsageError('--ttl: expected more than 0');
}
