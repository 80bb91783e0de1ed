import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileJava, java, mavenClasspath, mavenFile } from './java.ts';
import { parseJunitReport, type JunitTest } from './junit-report.ts';

const KIT = 'test/conformance/rest-kit';
const VIEW_TESTS = 'org.apache.iceberg.rest.RESTCompatibilityKitViewCatalogTests';
/** The jars by which Iceberg's clients reach a bucket. */
const AWS = [
  'org.apache.iceberg:iceberg-aws:1.11.0',
  'org.apache.iceberg:iceberg-aws-bundle:1.11.0',
  'dev.failsafe:failsafe:3.3.2',
];

/** The class path of programs that use Iceberg's Java library, also over a bucket. */
export async function icebergClasspath(): Promise<string> {
  const jars = await Promise.all(AWS.map((one) => mavenFile(one)));
  return [...jars, await mavenClasspath(`${KIT}/pom.xml`)].join(':');
}

/** The suites of the Iceberg REST Compatibility Kit, over local files or over a bucket, with what Skein adds to them. */
const SUITES = {
  files: [['NestedCatalogTests'], ['NestedCatalogTests', VIEW_TESTS]],
  bucket: [
    ['NestedCatalogTests', 'BucketCatalogTests', 'BucketViewTests'],
    ['BucketCatalogTests', 'BucketViewTests'],
  ],
} as const;

/** Runs the kit. @param properties of the kit, and of the client's catalog @param methods these tests alone: `Class#method` */
export async function runKit(
  over: keyof typeof SUITES,
  properties: Readonly<Record<string, string>>,
  methods?: readonly string[],
): Promise<{ readonly tests: readonly JunitTest[]; readonly output: string }> {
  const kit = over === 'files' ? await mavenClasspath(`${KIT}/pom.xml`) : await icebergClasspath();
  const [sources, suites] = SUITES[over];
  let classpath = kit;
  for (const source of sources) classpath = `${await compileJava(`${KIT}/${source}.java`, classpath)}:${kit}`;
  const reports = await mkdtemp(join(tmpdir(), 'skein-kit-'));
  const all = {
    'rck.local': 'false',
    'rck.requires-namespace-create': 'true',
    'rck.supports-serverside-retry': 'true',
    'rck.supports-names-with-dot': 'true',
    'rck.supports-variant': 'true',
    'org.slf4j.simpleLogger.defaultLogLevel': 'error',
    ...properties,
  };
  const select =
    methods?.flatMap((method) => ['--select-method', method]) ?? suites.flatMap((suite) => ['--select-class', suite]);
  const launcher = ['org.junit.platform.console.ConsoleLauncher', 'execute', '--disable-banner', '--details=summary'];
  try {
    const { stdout, stderr } = await java(classpath, all, [...launcher, ...select, '--reports-dir', reports]);
    const xml = await readFile(join(reports, 'TEST-junit-jupiter.xml'), 'utf8').catch(() => '');
    return { tests: parseJunitReport(xml), output: `${stdout}${stderr}` };
  } finally {
    await rm(reports, { recursive: true, force: true });
  }
}
