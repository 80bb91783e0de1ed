/** Prints what a client can do, a line for each feature, so that the suites of all clients make one table. */
export function printMatrix(client: string, outcomes: Readonly<Record<string, string>>): void {
  const lines = Object.entries(outcomes).map(([feature, outcome]) => {
    return `${client.padEnd(14)} | ${feature.padEnd(60)} | ${outcome === 'ok' ? 'ok' : 'FAILED'}`;
  });
  process.stdout.write(`${lines.join('\n')}\n`);
}
