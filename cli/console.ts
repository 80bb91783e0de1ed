import { spawn } from 'node:child_process';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { atLocalhost } from '#shared/config/loopback.ts';
import { systemClock } from '#shared/clock.ts';
import { consoleLink, makeConsoleCode } from '#shared/console/console-code.ts';
import { findTarget, mintToken, type Target } from './catalog-rpc.ts';
import type { Flags } from './command.ts';
import { EXIT, type ExitCode } from './exit-code.ts';

/** `skein console`: a link that signs in to the console, once, within ten minutes. */
export async function consoleCommand(loaded: LoadedConfig, flags: Flags): Promise<ExitCode> {
  const link = await signInLink(findTarget(loaded), loaded, { user: flags.text('user'), tenant: flags.text('tenant') });
  process.stdout.write(`${link}\n`);
  if (flags.has('open')) openBrowser(link);
  return EXIT.ok;
}

type Who = { readonly user?: string | undefined; readonly tenant?: string | undefined };

/** The link, or where it cannot be made the address of the page, at which people sign in by themselves. */
export const linkOr = (url: string, loaded: LoadedConfig): Promise<string> =>
  Promise.try(() => signInLink(findTarget(loaded), loaded)).catch(() => url);

/** Makes the link: the operator mints a token, and only the cluster can read it out of the link. */
async function signInLink(target: Target, { config }: LoadedConfig, who: Who = {}): Promise<string> {
  const token = await mintToken(target, {
    ...who,
    ttlMs: Math.min(config['coordinator.console_session_ttl'], config['catalog.token_ttl']),
  });
  const base = config['coordinator.url'] === '' ? atLocalhost(target.queryUrl) : config['coordinator.url'];
  return consoleLink(base, makeConsoleCode(token, target.security.keyring, systemClock.nowMs()));
}

/** Opens the person's browser, if there is one; the link was printed in any case. */
export function openBrowser(link: string): void {
  const [program, ...rest] =
    process.platform === 'darwin' ? ['open'] : process.platform === 'win32' ? ['cmd', '/c', 'start', ''] : ['xdg-open'];
  spawn(program ?? 'xdg-open', [...rest, link], { detached: true, stdio: 'ignore' })
    .on('error', () => undefined)
    .unref();
}
