import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { callCatalog, findTarget, mintToken } from './catalog-rpc.ts';
import type { Flags } from './command.ts';
import type { ExitCode } from './exit-code.ts';
import { runLoad } from './load/run-load.ts';

/** `skein load`, as the first admin unless `--user` says otherwise; Ctrl-C ends it with nothing committed. */
export async function load(loaded: LoadedConfig, flags: Flags, args: readonly string[]): Promise<ExitCode> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
  return (await runLoad(args, {
    config: loaded.config,
    connect: async () => {
      const target = findTarget(loaded);
      const token = await mintToken(target, { user: flags.text('user'), tenant: flags.text('tenant') });
      const { catalogUrl, trust } = target;
      return { catalogUrl, trust, token, call: (method, request) => callCatalog(target, method, request) };
    },
    stdout: process.stdout,
    stderr: process.stderr,
    isTty: process.stderr.isTTY,
    signal: stop.signal,
  })) as ExitCode;
}
