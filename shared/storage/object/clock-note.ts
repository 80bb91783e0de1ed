import type { StoreAnswer } from './send-request.ts';

/** A difference of clocks that a service would mind. */
const CLOCK_OFF_MS = 5 * 60_000;

/** Says that this machine's clock is wrong, which services call by many names; '' when it is right. */
export function clockNote({ headers }: Pick<StoreAnswer, 'headers'>): string {
  const offMs = Date.now() - Date.parse(headers.date ?? '');
  if (!(Math.abs(offMs) > CLOCK_OFF_MS)) return '';
  const minutes = Math.round(Math.abs(offMs) / 60_000);
  return `; this machine’s clock is ${minutes} minutes ${offMs > 0 ? 'ahead of' : 'behind'} the service’s`;
}
