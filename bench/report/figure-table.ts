import { COMMANDS, goalOf, TARGETS, type Judged } from '../targets.ts';

const BEGIN = '<!-- figures: npm run bench -- report -->';
const END = '<!-- end of figures -->';
const UNKNOWN = '–';

/** A row of the table: `figure` and `day` are those of the last measurement, `UNKNOWN` before the first. */
type Row = { readonly figure: string; readonly day: string };

/**
 * Puts the figures into the table of a page between its two marks, a row for each target. Targets that were not measured keep the figure and
 * the day that their row has; rows of targets that are gone go. Pure.
 * `day`: when the figures were measured, as YYYY-MM-DD.
 * @throws Error for a page without the marks.
 */
export function withFigures(page: string, judged: readonly Judged[], day: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`the page lacks ${BEGIN} or ${END}`);
  const kept = readRows(page.slice(begin, end));
  const measured = new Map(judged.map(({ target, figure }) => [target.what, { figure, day }]));
  const rows = TARGETS.map((target) => {
    const { figure, day: of } = measured.get(target.what) ?? kept.get(target.what) ?? { figure: UNKNOWN, day: UNKNOWN };
    return `| \`${COMMANDS[target.result]}\` | ${target.what} | ${figure} | ${goalOf(target)} | ${of} |`;
  });
  const table = ['| `npm run bench --` | figure | measured | goal | day |', '|---|---|---|---|---|', ...rows].join(
    '\n',
  );
  return `${page.slice(0, begin)}${BEGIN}\n${table}\n${page.slice(end)}`;
}

function readRows(table: string): ReadonlyMap<string, Row> {
  const cells = table.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  return new Map(
    cells.flatMap(([, , what, figure, , day]) => (what && figure && day ? [[what, { figure, day }]] : [])),
  );
}
