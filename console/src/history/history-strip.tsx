import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { HistorySummaryEntry } from '#coordinator/api/http/history-operations.ts';
import { callJson, type ApiError } from '../api/call.ts';
import { printCount, printMs, printTime } from '../app/print-figures.ts';
import { bars, bucketSeconds, type Span } from './history-span.ts';

type Props = {
  /** The filters of the list, without its times. */
  readonly filters: URLSearchParams;
  readonly span: Span | null;
  readonly onSpan: (span: Span | null) => void;
};

/** Time that the strip shows when no part is chosen: a day. */
const DAY_MS = 86_400_000;
/** How often the last day is asked for again. */
const MOVES_MS = 10_000;

/** When statements came: a choice of bars, by a drag or by keys, is the list's time. */
export function HistoryStrip({ filters, span, onSpan }: Props): ReactNode {
  const [drag, setDrag] = useState<readonly [number, number] | null>(null);
  const asked = new URLSearchParams(filters);
  const seconds = bucketSeconds(span ?? { fromMs: 0, toMs: DAY_MS });
  const { data } = useQuery<HistorySummaryEntry, ApiError>({
    queryKey: ['history summary', asked.toString(), span?.fromMs, span?.toMs],
    queryFn: () => {
      const now = Date.now();
      const { fromMs, toMs } = span ?? { fromMs: now - DAY_MS, toMs: now };
      asked.set('from', new Date(fromMs).toISOString());
      asked.set('to', new Date(toMs).toISOString());
      asked.set('bucket_s', String(seconds));
      return callJson(`/api/query-history/summary?${asked.toString()}`);
    },
    placeholderData: (before) => before,
    refetchInterval: span === null ? MOVES_MS : false,
  });
  const strip = useRef<HTMLDivElement>(null);
  const isThere = data !== undefined;
  // A day is wider than many screens, and what came last is looked for most.
  useEffect(() => {
    if (strip.current !== null) strip.current.scrollLeft = strip.current.scrollWidth;
  }, [isThere, span]);
  if (data === undefined) return <div className="strip" />;
  const shown = bars(data.lines, span ?? { fromMs: Date.now() - DAY_MS, toMs: Date.now() }, seconds);
  const most = Math.max(1, ...shown.map(({ count }) => count));
  const total = shown.reduce((sum, { count }) => sum + count, 0);
  const choose = (a: number, b: number): void => {
    const [first, last] = [shown[Math.min(a, b)], shown[Math.max(a, b)]];
    setDrag(null);
    if (first !== undefined && last !== undefined)
      onSpan({ fromMs: first.fromMs, toMs: last.fromMs + seconds * 1_000 });
  };
  return (
    <div className="bar">
      <div ref={strip} className="strip" role="group" aria-label="When they came">
        {shown.map(({ fromMs, count, durationMs }, at) => (
          <button
            key={fromMs}
            type="button"
            className={drag !== null && at >= Math.min(...drag) && at <= Math.max(...drag) ? 'chosen' : ''}
            aria-label={`${printTime(new Date(fromMs).toISOString())}: ${printCount(count)} statements, ${printMs(durationMs)}`}
            title={`${printTime(new Date(fromMs).toISOString())}: ${printCount(count)} statements, ${printMs(durationMs)}`}
            onMouseDown={() => setDrag([at, at])}
            onMouseEnter={({ buttons }) => buttons === 1 && drag !== null && setDrag([drag[0], at])}
            onMouseUp={() => choose(drag?.[0] ?? at, at)}
            onKeyDown={({ key }) => (key === 'Enter' || key === ' ') && choose(at, at)}
          >
            <span style={{ height: `${count === 0 ? 0 : Math.max(6, (count / most) * 100)}%` }} />
          </button>
        ))}
      </div>
      <span className="quiet">
        {printCount(total)} {span === null ? 'in the last day' : 'in this time'}
      </span>
      {span === null ? null : (
        <button type="button" onClick={() => onSpan(null)}>
          All times
        </button>
      )}
    </div>
  );
}
