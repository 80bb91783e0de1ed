import type { ChartChoice } from '../result/chart-choice.ts';

/** A parameter of a statement as its field has it. */
export type ParameterValue = { readonly type: string; readonly value: string; readonly isNull: boolean };

export const ROW_LIMITS = [1_000, 10_000, 100_000, 500_000] as const;
const ROW_LIMIT_DEFAULT = 10_000;

/** The order that a request asks for, beside that of its statement. */
export type RowOrder = { readonly column: string; readonly descending: boolean };

/** The statement that a tab remembers. Tabs of an older release have no order. */
export type StartedRun = {
  readonly queryId: string;
  readonly sql: string;
  readonly order?: RowOrder | null;
  /** Its rows are a plan, which is drawn. */
  readonly isExplain?: true;
};

/** A tab as the browser keeps it. */
export type TabRecord = {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly cursor: number;
  /** By name; those of `?` by their number. */
  readonly parameters: Readonly<Record<string, ParameterValue>>;
  readonly chart: ChartChoice | null;
  readonly rowLimit: number;
  /** 0: the session's own. */
  readonly timeoutS: number;
  /** Its SQL session (`X-Skein-Session`). */
  readonly session: string;
  /** The statement that runs, or whose rows are shown: after a reload its rows are asked for again. */
  readonly run: StartedRun | null;
  readonly order: number;
  readonly closedAtMs: number | null;
};

export const newTab = (order: number, text = ''): TabRecord => ({
  id: crypto.randomUUID(),
  title: `Query ${order}`,
  text,
  cursor: text.length,
  parameters: {},
  chart: null,
  rowLimit: ROW_LIMIT_DEFAULT,
  timeoutS: 0,
  session: crypto.randomUUID(),
  run: null,
  order,
  closedAtMs: null,
});
