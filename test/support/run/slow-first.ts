import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, the longest first, so that none of them begins last. The report of a run lists the slowest files. */
const SLOW = [
  'test/clients/sign-in.test.ts',
  'test/conformance/rest-kit.test.ts',
  'test/cluster/silent-hosts.test.ts',
  'test/bucket/faults.test.ts',
  'test/oracle/oracle.test.ts',
  'test/cluster/postgres-kills.test.ts',
  'test/cluster/dml.test.ts',
  'test/cluster/stage-kills.test.ts',
  'test/cluster/principal-matrix.test.ts',
  'test/slt/slt.test.ts',
  'catalog/rest/crashes.system.test.ts',
  'cli/up/up.system.test.ts',
  'test/cluster/distributed.test.ts',
  'test/conformance/scope-matrix.test.ts',
  'test/clients/console-catalog.test.ts',
  'test/clients/postgres-browsers.test.ts',
  'test/clients/postgres-spellings.test.ts',
  'test/cluster/policy-leases.test.ts',
  'cli/commands.system.test.ts',
  'cli/load/load-tpch.system.test.ts',
];

/** Begins with the files of `SLOW`; other suites follow as Vitest orders them, and what starts no server fills the gaps at the end. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification): number => {
      const at = SLOW.findIndex((path) => moduleId.endsWith(path));
      if (at >= 0) return at;
      return project.name === 'unit' || project.name === 'plan' ? SLOW.length + 1 : SLOW.length;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
