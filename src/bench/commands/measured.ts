/** Commands in processes of their own: their CPU time, wall time and peak memory. */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { CorellaError } from '../../core/errors.js';

export interface Used {
  /** User and system time of the command, its threads and its own processes. */
  readonly cpuS: number;
  readonly wallS: number;
  /** The most that one process held; not below the 45 MB of the small process that starts the command. */
  readonly peakBytes: number;
}

/**
 * A process that runs one command and then asks the system what its children used: Node tells a parent nothing of its
 * children. getrusage: seconds and microseconds of user and of system time, then the largest resident set, in KiB.
 */
const STARTER = `
const [koffi, ...words] = process.argv.slice(1);
const began = performance.now();
const { status, stderr, error } = require('node:child_process')
  .spawnSync(words[0], words.slice(1), { stdio: ['ignore', 'ignore', 'pipe'], maxBuffer: 2 ** 26 });
const wallS = (performance.now() - began) / 1000;
const used = new BigInt64Array(18);
require(koffi).load(null).func('int getrusage(int who, void *used)')(-1, used);
const [userS, userUs, systemS, systemUs, peak] = Array.from(used, Number);
console.log(JSON.stringify({
  used: { cpuS: userS + systemS + (userUs + systemUs) / 1e6, wallS, peakBytes: peak * 1024 },
  failure: error ? String(error) : status === 0 ? undefined : String(stderr).slice(-2000),
}));`;

/** Runs a command to its end; refused with its own words where it fails. */
export async function measureCommand(
  [program, ...words]: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Used> {
  const koffi = createRequire(import.meta.url).resolve('koffi');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=commonjs', '-e', STARTER, '--', koffi, program, ...words],
    { env: { ...process.env, ...environment } },
  );
  const { used, failure } = JSON.parse(stdout) as { readonly used: Used; readonly failure?: string };
  if (failure === undefined) return used;
  throw new CorellaError({
    where: 'bench commands',
    what: `${[program, ...words].join(' ')} failed: ${failure.trim()}`,
    fix: 'run it by hand to see why',
  });
}
