// Common parts of the comparisons with pyuvdata: a folder with a few dishes at 150 MHz and 60 ms of their sky, the
// command, and a Python that may have pyuvdata (PYTHONPATH gives its location).
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = new URL('../..', import.meta.url).pathname;
const python = '/usr/bin/python3';

/** Sources of every comparison, in the form of `--sources`. */
export const sources = ['--sources', 'one:200:40:2000,two:190:30:3000'];
/** Their correlation: three integrations of sixteen channels. */
export const correlated = ['--channels', '16', '--integration', '20ms', '--backend', 'cpu'];

/**
 * Without pyuvdata, reports what is unchecked, and passes.
 * @param {string} unchecked
 */
export function needPyuvdata(unchecked) {
  if (spawnSync(python, ['-c', 'import pyuvdata']).status === 0) return;
  console.log(`${unchecked}: pyuvdata cannot be imported by ${python} (set PYTHONPATH)`);
  process.exit(0);
}

/**
 * Runs a comparison in a temporary folder, over `voltages.sigmf-meta` of dishes at these places, and exits: 0 if no
 * check failed.
 * @param {string} name
 * @param {readonly (readonly [eastM: number, northM: number, upM: number])[]} places
 * @param {readonly string[]} simulated options of `corella simulate` beside time and sources
 * @param {(bench: Bench) => void} body
 */
export function compareDishes(name, places, simulated, body) {
  const folder = mkdtempSync(join(tmpdir(), `corella-${name}-`));
  let bad = false;
  try {
    const rows = places.map((place, n) => [`dish${n}`, ...place].join(','));
    writeFileSync(join(folder, 'dishes.csv'), `name,east_m,north_m,up_m\n${rows.join('\n')}\n`);
    writeFileSync(
      join(folder, 'dishes.json'),
      JSON.stringify({
        ...{ name: 'dishes', title: 'a few dishes', positions: 'dishes.csv', polarisations: 2 },
        site: { latitudeDeg: 34.348358, longitudeDeg: -106.885783, heightM: 1477.8 },
        band: { lowHz: 100e6, highHz: 200e6 },
        recording: { centreFrequencyHz: 150e6, sampleRateHz: 1e6, channels: 16, bits: 8 },
        beamExponent: 0,
      }),
    );
    const bench = new Bench(folder);
    const when = ['--time', '2019-04-10T07:00:00Z', '--duration', '60ms'];
    bench.corella('simulate', '--telescope', 'dishes.json', ...when, ...sources, ...simulated);
    body(bench);
    bad = bench.failed;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    bad = true;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  process.exit(bad ? 1 : 0);
}

export class Bench {
  failed = false;

  /** @param {string} folder */
  constructor(folder) {
    this.folder = folder;
  }

  /**
   * The built command; on failure throws with all its output.
   * @param {string[]} words
   */
  corella(...words) {
    const made = spawnSync(process.execPath, [join(root, 'dist/cli/main.js'), ...words], {
      cwd: this.folder,
      encoding: 'utf8',
    });
    if (made.status !== 0) throw new Error(`corella ${words.join(' ')}\n${made.stdout}${made.stderr}`);
  }

  /**
   * A Python program, which prints its result and exits with 0 on success. Returns whether it succeeded.
   * @param {string} program
   * @param {readonly string[]} words
   */
  python(program, words) {
    const made = spawnSync(python, ['-c', program, ...words], { cwd: this.folder, encoding: 'utf8' });
    console.log(made.stdout.trim());
    if (made.status === 0) return true;
    // It prints failed checks itself, but not its own crash.
    if (made.stdout.trim() === '' || made.stderr.includes('Traceback')) console.error(made.stderr);
    this.failed = true;
    return false;
  }
}
