import { type Config } from '#shared/config/config-schema.ts';
import { parseDuration } from '#shared/config/parse-setting.ts';
import type { AttemptEnd } from '../store/postgres/webhook-store.ts';
import type { CallEnd } from './call-receiver.ts';

/**
 * How a delivery goes on after an attempt (service specification, Webhook delivery row).
 *
 * ```
 * pending, retrying --2xx--> delivered
 * pending, retrying --any other answer, or none--> retrying, after webhook.backoff
 *                   --the last of webhook.attempts--> failed --ALTER WEBHOOK RETRY--> pending
 * ```
 */
export function deliveryEnd(
  call: CallEnd,
  attempt: number,
  now: Date,
  config: Pick<Config, 'webhook.attempts' | 'webhook.backoff'>,
): AttemptEnd {
  const httpStatus = 'status' in call ? call.status : null;
  if (httpStatus !== null && httpStatus >= 200 && httpStatus <= 299) {
    return { status: 'delivered', httpStatus, error: null, now, dueAt: null };
  }
  const error = 'problem' in call ? call.problem : refusalOf(call.status);
  if (attempt >= config['webhook.attempts']) return { status: 'failed', httpStatus, error, now, dueAt: null };
  return { status: 'retrying', httpStatus, error, now, dueAt: new Date(now.getTime() + waitMs(attempt, config)) };
}

const refusalOf = (status: number): string =>
  status >= 300 && status <= 399
    ? `the receiver answered ${status}, and redirects are not followed`
    : `the receiver answered ${status}`;

/** The wait after an attempt; the last one counts for all that follow. */
function waitMs(attempt: number, { 'webhook.backoff': waits }: Pick<Config, 'webhook.backoff'>): number {
  return parseDuration(waits[attempt - 1] ?? waits.at(-1) ?? '0');
}
