/** Columns aligned with spaces: the first to the left, the others to the right. */
export function printTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((name, c) => Math.max(name.length, ...rows.map((row) => (row[c] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    widths.map((width, c) => (c === 0 ? (cells[c] ?? '').padEnd(width) : (cells[c] ?? '').padStart(width))).join('  ');
  return [line(header), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n');
}
