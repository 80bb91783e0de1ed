import { expect, test } from 'vitest';
import { toJavaScript } from './to-java-script.ts';

test.each([
  ["import { a } from '#shared/a/b.ts';", "import { a } from '../shared/a/b.js';"],
  ["import type { a } from './c.ts';", "import type { a } from './c.js';"],
  ["export { d } from '../shared/d.ts';", "export { d } from '../shared/d.js';"],
  ["await import('#cli/up/up.ts')", "await import('./up/up.js')"],
  ["new URL('thread.ts', import.meta.url)", "new URL('thread.js', import.meta.url)"],
  [
    "import project from '../package.json' with { type: 'json' };",
    "import project from '../package.json' with { type: 'json' };",
  ],
  ["const MESSAGES = ['proto/task.ts'];", "const MESSAGES = ['proto/task.ts'];"],
  ["import { z } from 'zod';", "import { z } from 'zod';"],
])('%s', (source, expected) => {
  expect(toJavaScript('cli/main.ts', source)).toBe(expected);
});
