/** A part of the time. */
export type Span = { readonly fromMs: number; readonly toMs: number };

type Line = { readonly bucket: string | null; readonly count: number; readonly durationMs: number };
type Bar = { readonly fromMs: number; readonly count: number; readonly durationMs: number };

/** Bars of the strip, about. */
const BARS = 48;
/** Times of a bar that people can read. */
const STEPS_S = [1, 5, 15, 60, 300, 900, 1_800, 3_600, 10_800, 43_200, 86_400, 604_800, 2_592_000];

export const bucketSeconds = ({ fromMs, toMs }: Span): number =>
  STEPS_S.find((seconds) => seconds * 1_000 * BARS >= toMs - fromMs) ?? 2_592_000;

/** A bar for each time of the span, also where nothing came. */
export function bars(lines: readonly Line[], { fromMs, toMs }: Span, seconds: number): readonly Bar[] {
  const step = seconds * 1_000;
  const byTime = new Map(lines.map((line) => [line.bucket === null ? 0 : Date.parse(line.bucket), line]));
  const first = Math.floor(fromMs / step) * step;
  const count = Math.max(1, Math.ceil((toMs - first) / step));
  return Array.from({ length: count }, (_, at) => {
    const from = first + at * step;
    const line = byTime.get(from);
    return { fromMs: from, count: line?.count ?? 0, durationMs: line?.durationMs ?? 0 };
  });
}

/** The span in an address; null without one, or when it is none. */
export function spanOf(search: URLSearchParams): Span | null {
  const [fromMs, toMs] = [Date.parse(search.get('from') ?? ''), Date.parse(search.get('to') ?? '')];
  return fromMs < toMs ? { fromMs, toMs } : null;
}
