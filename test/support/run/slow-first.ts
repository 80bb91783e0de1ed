import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take long or wait long, the longest first: whatever begins last ends last. The report of a run says which they are. */
const SLOW = [
  'test/cluster/distributed.test.ts',
  'test/clients/sign-in.test.ts',
  'test/clients/scan-planning.test.ts',
  'test/oracle/oracle.test.ts',
  'test/conformance/rest-kit.test.ts',
  'test/cluster/etcd.test.ts',
  'test/slt/slt.test.ts',
  'cli/up/up.system.test.ts',
  'test/tpcds/fragments.test.ts',
  'catalog/rest/crashes.system.test.ts',
  'test/tpch/tpch.test.ts',
  'worker/exchange.system.test.ts',
  'catalog/token/key-rotation.system.test.ts',
];

/** Begins with the files of `SLOW`; the others follow as Vitest orders them. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = SLOW.findIndex((path) => moduleId.endsWith(path));
      return at < 0 ? SLOW.length : at;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
