import { parseArgs } from 'node:util';
import { benchLatency } from './latency/bench-latency.ts';
import { benchTpch } from './tpch/bench-tpch.ts';

const USAGE = `usage: npm run bench -- tpch [--scale S] [--runs N]
       npm run bench -- latency [--scale S] [--seconds N]
`;

/** Runs one benchmark on a cluster of its own; its data directory stays in .cache/bench, so that a second run loads nothing. */
async function main(args: readonly string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      scale: { type: 'string', default: '1' },
      runs: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '5' },
    },
  });
  const [name] = positionals;
  if (name === 'tpch') await benchTpch({ scale: values.scale, runs: Number(values.runs) });
  else if (name === 'latency') await benchLatency({ scale: values.scale, seconds: Number(values.seconds) });
  else {
    process.stderr.write(USAGE);
    return 2;
  }
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
