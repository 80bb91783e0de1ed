import type { Reporter, TestModule } from 'vitest/node';

const FILES = 15;

/** Ends a run of several files with those that took longest: from the start of a file's hooks to the end of its last. */
export default class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length < 2) return;
    const files = modules
      .map((module) => {
        const { setupDuration, collectDuration, duration } = module.diagnostic();
        return {
          name: `${module.project.name} ${module.relativeModuleId}`,
          ms: setupDuration + collectDuration + duration,
        };
      })
      .sort((a, b) => b.ms - a.ms);
    const total = files.reduce((sum, { ms }) => sum + ms, 0);
    const lines = files.slice(0, FILES).map(({ name, ms }) => `${seconds(ms)}  ${name}`);
    process.stdout.write(`\nslowest of ${files.length} files (${seconds(total).trim()} in all)\n${lines.join('\n')}\n`);
  }
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1).padStart(7)} s`;
