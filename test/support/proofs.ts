/** Checks the tests that docs/spec-coverage.md names against vitest's reports. */
export type Proof = {
  /** The requirement's id, such as `QR-1`. */
  readonly id: string;
  readonly path: string;
  /** The test with the groups that it stands in, outermost first: `tokens › SELECT needs table:read`. */
  readonly name: string;
};

export type Requirement = { readonly id: string; readonly proofs: readonly Proof[] };

/** A test as it ran, whatever came of it. */
export type RanTest = { readonly path: string; readonly name: string; readonly status: string };

const SEPARATOR = ' › ';
const NOT_YET = 'not yet';

/** The rows of the page. A row that is not yet there has no proofs. @throws Error with the line that is neither, or has no id */
export function requirementsOf(page: string): readonly Requirement[] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|(?: id \||-)/.test(line))
    .map((line) => {
      const [, id = '', , proofs = ''] = line.split('|').map((cell) => cell.trim());
      if (!/^[A-Z]+-\d+[a-z]?$/.test(id)) throw new Error(`a row without an id such as QR-1 or QR-1a: ${line}`);
      if (proofs === NOT_YET) return { id, proofs: [] };
      return { id, proofs: proofs.split('<br>').map((text) => proofOf(id, text)) };
    });
}

function proofOf(id: string, text: string): Proof {
  const [, path = '', name = ''] = /^`([^`›]+\.test\.ts) › ([^`]+)`$/.exec(text) ?? [];
  if (path === '') throw new Error(`${id}: neither “${NOT_YET}” nor \`file.test.ts › group › test\`: ${text}`);
  return { id, path, name };
}

/** vitest's JSON report; paths become relative to `root`. */
export function ranTests(report: string, root: string): readonly RanTest[] {
  const { testResults } = JSON.parse(report) as {
    readonly testResults: readonly {
      readonly name: string;
      readonly assertionResults: readonly {
        readonly ancestorTitles: readonly string[];
        readonly title: string;
        readonly status: string;
      }[];
    }[];
  };
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ ancestorTitles, title, status }) => ({
      path: name.startsWith(`${root}/`) ? name.slice(root.length + 1) : name,
      name: [...ancestorTitles, title].join(SEPARATOR),
      status,
    })),
  );
}

export type Judgement = {
  /** Proofs that do not hold, each with the reason. */
  readonly wrong: readonly string[];
  readonly held: readonly Proof[];
  /** Proofs in files that run only with `npm run test:full` and that no report has, or that this machine left out. */
  readonly unchecked: readonly Proof[];
};

/**
 * A proof holds when the reports have exactly one test of its name, and that passed. `leftOut`: files that need what this machine lacks.
 */
export function judgeProofs(
  proofs: readonly Proof[],
  ran: readonly RanTest[],
  leftOut: ReadonlySet<string> = new Set(),
): Judgement {
  const statuses = new Map<string, string[]>();
  for (const { path, name, status } of ran) {
    const key = `${path}${SEPARATOR}${name}`;
    statuses.set(key, [...(statuses.get(key) ?? []), status]);
  }
  const ranInFull = ran.some(({ path }) => isFull(path));
  const unchecked = proofs.filter(({ path }) => leftOut.has(path) || (isFull(path) && !ranInFull));
  const checked = proofs.filter((proof) => !unchecked.includes(proof));
  const why = ({ path, name }: Proof): string | undefined => {
    const found = statuses.get(`${path}${SEPARATOR}${name}`) ?? [];
    if (found.length === 0) return 'no such test ran';
    if (found.length > 1) return `${found.length} tests have this name`;
    return found[0] === 'passed' ? undefined : `the test is ${found[0]}`;
  };
  return {
    wrong: checked.flatMap((proof) => {
      const reason = why(proof);
      return reason === undefined ? [] : [`${proof.id}: ${proof.path}${SEPARATOR}${proof.name}: ${reason}`];
    }),
    held: checked.filter((proof) => why(proof) === undefined),
    unchecked,
  };
}

const isFull = (path: string): boolean => path.endsWith('.full.test.ts');
