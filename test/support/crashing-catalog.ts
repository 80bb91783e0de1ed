import { startCatalog } from '#catalog/main.ts';
import type { CrashPoint } from '#catalog/context.ts';
import { systemClock } from '#shared/clock.ts';
import type { Config } from '#shared/config/config-schema.ts';
import { silentLogger } from '#shared/log/logger.ts';

/** A catalog in a process of its own that a test kills, or that kills itself at a point which the test names. See `catalog-process.ts`. */

type Order = { readonly config: Config; readonly dieAt: CrashPoint | null };

process.once('message', (order: Order) => void start(order));

async function start({ config, dieAt }: Order): Promise<void> {
  let armed = false;
  const running = await startCatalog(config, silentLogger, systemClock, (point) => {
    if (armed && point === dieAt) process.kill(process.pid, 'SIGKILL');
  });
  process.on('message', () => {
    armed = true;
    process.send?.({ armed });
  });
  process.send?.({ url: running.url, internalAddress: running.internalAddress });
}
