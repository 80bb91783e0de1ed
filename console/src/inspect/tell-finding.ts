import { printBytes, printCount } from '../app/print-figures.ts';
import type { Health } from './table-answers.ts';

/** A finding as a sentence with its figures. */
export function tellFinding({ code, figures }: Health['findings'][number]): string {
  const count = (name: string): string => printCount(figures[name] ?? 0);
  const bytes = (name: string): string => printBytes(figures[name] ?? 0);
  switch (code) {
    case 'small_files':
      return `${count('files')} of ${count('of_files')} data files are smaller than ${bytes('below_bytes')} (${bytes('bytes')} in all): a query opens each of them.`;
    case 'delete_files':
      return `${count('files')} delete files (${count('rows')} rows, ${bytes('bytes')}) beside ${count('of_files')} data files: a query reads them, too.`;
    case 'many_manifests':
      return `${count('manifests')} small manifests (${bytes('bytes')} in all): every plan reads them.`;
    case 'old_snapshots':
      return `${count('expired')} of ${count('snapshots')} snapshots and ${count('expired_refs')} branches and tags have expired, and keep their files.`;
    case 'no_statistics':
      return `No statistics count distinct values of ${count('columns')} columns of ${count('rows')} rows: joins are planned by guesses.`;
    default:
      return code;
  }
}
