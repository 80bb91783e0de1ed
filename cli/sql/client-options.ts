import { parseDuration } from '#shared/config/parse-setting.ts';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { SkeinError } from '#shared/error.ts';
import { findTarget, mintToken } from '../catalog-rpc.ts';
import { doorTrust } from '../door-fetch.ts';
import type { Flags } from '../command.ts';
import { UsageError } from '../exit-code.ts';
import type { ClientOptions } from './query-client.ts';

/** The query API that `--url` and `--token` name, or that of the data directory's cluster with a token of its operator. */
export function clientOptions(loaded: LoadedConfig, flags: Flags): ClientOptions {
  const given = loaded.config['client.token'];
  const url = loaded.config['client.query_url'];
  const target = given !== '' && url !== '' ? undefined : findTarget(loaded);
  let minted: Promise<string> | undefined;
  return {
    url: url || (target?.queryUrl ?? ''),
    trust: url === '' && target !== undefined ? target.trust : doorTrust(loaded.config),
    timeoutMs: timeoutOf(flags.text('timeout')),
    token: (fresh) => {
      if (given !== '' || target === undefined) return Promise.resolve(given);
      if (fresh || minted === undefined) minted = mintToken(target);
      return minted;
    },
  };
}

function timeoutOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  try {
    return parseDuration(text);
  } catch (error) {
    throw new UsageError(`--timeout: ${SkeinError.of(error).message}`);
  }
}
