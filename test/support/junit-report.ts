import { must } from '#shared/must.ts';

/** One test of a JUnit XML report. */
export type JunitTest = {
  readonly suite: string;
  /** With ` #2` and so on for the further runs of a parameterised test. */
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  /** The report's text of a failed or skipped test. */
  readonly text: string;
};

const CASE = /<testcase name="([^"]*)" classname="([^"]*)"[^>]*?(?:\/>|>(.*?)<\/testcase>)/gs;
const OUTCOME = /<(failure|error|skipped)\b([^>]*?)(?:\/>|>(.*?)<\/\1>)/s;
const TEXT_CHARACTERS_MAX = 4_000;

/** The tests of a report as the platform's console launcher writes it. Pure. */
export function parseJunitReport(xml: string): readonly JunitTest[] {
  const runs = new Map<string, number>();
  return [...xml.matchAll(CASE)].map(([, name = '', suite = '', inside = '']) => {
    const count = (runs.get(`${suite} ${name}`) ?? 0) + 1;
    runs.set(`${suite} ${name}`, count);
    const [, outcome, attributes = '', text = ''] = OUTCOME.exec(inside) ?? [];
    return {
      suite: must(suite.split('.').at(-1), 'a class has a name'),
      name: unescapeXml(name).replace(/\(\)$/, '') + (count === 1 ? '' : ` #${count}`),
      state: outcome === undefined ? 'passed' : outcome === 'skipped' ? 'skipped' : 'failed',
      text: unescapeXml(`${attributes} ${text}`.replaceAll(/<!\[CDATA\[|\]\]>/g, '')).slice(0, TEXT_CHARACTERS_MAX),
    };
  });
}

const unescapeXml = (text: string): string =>
  text
    .replaceAll(/&#(x?)([\da-f]+);/gi, (_all, hex: string, code: string) =>
      String.fromCodePoint(Number.parseInt(code, hex === '' ? 10 : 16)),
    )
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');
