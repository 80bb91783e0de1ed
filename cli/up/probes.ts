import { SkeinError } from '#shared/error.ts';
import { doorFetch, type DoorTrust } from '../door-fetch.ts';

const READY_POLL_MS = 25;
const PROBE_TIMEOUT_MS = 2_000;

/** Polls until `probe` reports no objection. @throws START_FAILED with its last objection */
export async function untilReady(timeoutMs: number, probe: () => Promise<string | undefined>): Promise<void> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const objection = await probe();
    if (objection === undefined) return;
    if (performance.now() > end) throw new SkeinError('START_FAILED', `the cluster is not ready: ${objection}`);
    await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
  }
}

/** Checks that every worker is attached, not just one, because the first statement may need them all. */
export async function workersAttached(
  url: string,
  count: number,
  { token, trust }: { readonly token: string; readonly trust: DoorTrust },
): Promise<string | undefined> {
  const objection = await health(url, trust);
  if (objection !== undefined) return objection;
  const response = await doorFetch(`${url}/metrics`, trust, {
    signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    headers: token === '' ? {} : { authorization: `Bearer ${token}` },
  }).catch(() => undefined);
  // On an address other than loopback the metrics may need a token; then the one worker that health requires has to be enough.
  if (response?.status !== 200) return response === undefined ? 'no answer' : undefined;
  const metrics = await response.text();
  const live = Number(/^skein_workers_live(?:\{[^}]*\})? (\d+)/m.exec(metrics)?.[1] ?? 0);
  return live >= count ? undefined : `${live} of ${count} workers have attached`;
}

/** Undefined when the service is ready, else the reason why it is not. */
export async function health(url: string, trust: DoorTrust): Promise<string | undefined> {
  try {
    const response = await doorFetch(`${url}/health/ready`, trust, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    const text = await response.text();
    return response.ok ? undefined : text.slice(0, 200);
  } catch (error) {
    return String((error as Error).cause ?? error);
  }
}
