import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot, run } from './cluster.ts';

/**
 * Java programs for the tests, fetched from Maven Central when first needed. Maven keeps the jars in its own repository, `.cache/java` the
 * files that are made from them. Without Maven or a JDK 17 this fails with the command's message.
 */
const CACHE = join(projectRoot, '.cache/java');
const MAVEN = ['--batch-mode', '--quiet', '--no-transfer-progress'] as const;
/**
 * Options of every virtual machine of a test: limited memory, because several run at once, and a quick start; UTF-8 whatever the locale.
 */
const MACHINE = [
  '-Xmx1g',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-Dfile.encoding=UTF-8',
  // Arrow's memory in Java reaches into java.nio.
  '--add-opens=java.base/java.nio=ALL-UNNAMED',
] as const;

/** The JDBC driver of Flight SQL, on which DBeaver, DataGrip and Tableau sit. */
export const FLIGHT_JDBC = 'org.apache.arrow:flight-sql-jdbc-driver:18.3.0';

/** The JDBC driver of Postgres. */
export const POSTGRES_JDBC = 'org.postgresql:postgresql:42.7.14';

/** The class path that a POM of `test/` describes. */
export async function mavenClasspath(pom: string): Promise<string> {
  const path = join(projectRoot, pom);
  const digest = createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
  const file = join(CACHE, `classpath-${digest.slice(0, 16)}.txt`);
  if (!existsSync(file)) {
    // Two suites may ask at once.
    const made = `${file}.${process.pid}`;
    await mkdir(CACHE, { recursive: true });
    await runOk('mvn', [...MAVEN, '-f', path, 'dependency:build-classpath', `-Dmdep.outputFile=${made}`]);
    await rename(made, file);
  }
  return readFile(file, 'utf8');
}

/** A file of Maven Central (`group:artifact:version[:packaging]`), copied to `.cache/java`; answers its path. */
export async function mavenFile(coordinates: string): Promise<string> {
  const [, artifact = '', version = '', packaging = 'jar'] = coordinates.split(':');
  const file = join(CACHE, `${artifact}-${version}.${packaging}`);
  if (!existsSync(file)) {
    const copy = ['dependency:copy', `-Dartifact=${coordinates}`, `-DoutputDirectory=${CACHE}`];
    await runOk('mvn', [...MAVEN, ...copy]);
  }
  return file;
}

/** Compiles a source file of `test/`; answers the folder of its classes. */
export async function compileJava(source: string, classpath: string): Promise<string> {
  const classes = join(CACHE, 'classes');
  await runOk('javac', ['-encoding', 'UTF-8', '-d', classes, '-cp', classpath, join(projectRoot, source)]);
  return classes;
}

/** Runs a main class to its end; answers its exit code and what it printed. */
export const java = (
  classpath: string,
  properties: Readonly<Record<string, string>>,
  args: readonly string[],
): ReturnType<typeof run> =>
  run('java', [
    ...MACHINE,
    ...Object.entries(properties).map(([key, value]) => `-D${key}=${value}`),
    '-cp',
    classpath,
    ...args,
  ]);

async function runOk(command: string, args: readonly string[]): Promise<void> {
  const result = await run(command, args);
  if (result.code !== 0)
    throw new Error(`${command} ${args.join(' ')}: exit ${result.code}\n${result.stdout}${result.stderr}`);
}
