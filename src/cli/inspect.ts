/** corella inspect: contents of a file, as text, JSON or pictures. */
import type { Command } from 'commander';
import { useEop } from './options/eop-option.js';
import { openFields } from './options/open-options.js';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { field, place, words } from '../fields/index.js';
import { addFields, type Options } from './options/own.js';
import { common, given, overwrite, picture, plan, pngPath, skyFiles } from './options/shared.js';
import { whenRun } from './options/command.js';

const changes = 'never';
const png = (flag: string, help: string) => field(pngPath, { flag: `--${flag} <path>`, changes, help });
const inspectOptions = z.strictObject({
  whole: field(given, {
    flag: '--whole',
    changes,
    help: 'read all of a large file, not its first block only; counts every gap and clipped number',
  }),
  picture,
  baseline: field(words('two stations, like stand1,stand17'), {
    flag: '--baseline <a,b>',
    changes,
    help: 'let --picture show one pair of stations, by their names, over time and frequency',
  }),
  plan,
  fringes: png(
    'fringes',
    'draw the fringes of two to eight stations as PNG: amplitude and phase over time, lags, closure phases, power, spectrum; a recording is correlated for it',
  ),
  fringeOf: field(place, {
    flag: '--fringe-of <source>',
    changes,
    help: 'expect the fringe of this source, drawn by --fringes, and fit the baselines to its drift: Sun, CygA, "RA Dec"',
  }),
  uv: png('uv', 'draw the coverage of the uv plane as PNG'),
  map: png('map', 'draw a map of the stations as PNG'),
  spectrum: png('spectrum', 'draw the mean spectrum as PNG; of the first block, or of the first integration'),
  ...openFields,
  overwrite,
  ...common,
  ...skyFiles,
});
export type InspectOptions = Options<typeof inspectOptions>;

export function registerInspect(program: Command): void {
  const command = program
    .command('inspect')
    .argument(
      '<file>',
      'a recording, visibilities, gains, an image, a filterbank or packets; or a folder of them',
    );
  useEop(addFields(command, inspectOptions)).action(
    whenRun(async () => (await import('./actions/inspect.js')).run),
  );
  addHelp(command, {
    common: [
      '--picture',
      '--spectrum',
      '--uv',
      '--baseline',
      '--fringes',
      '--whole',
      '--telescope',
      '--rate',
      '--plan',
      '--json',
    ],
    examples: [
      ['inspect voltages.sigmf-meta', 'format, telescope, times, frequencies, first samples, clipping, gaps'],
      ['inspect first-light', 'everything in a folder, as corella demo writes it'],
      ['inspect visibilities.uvfits --json', 'the same for machines'],
      [
        'inspect voltages.sigmf-meta --picture block.png',
        'the signals of the first inputs: waterfalls, histograms',
      ],
      ['inspect visibilities.uvh5 --picture baselines.png', 'amplitude and phase of every pair'],
      [
        'inspect visibilities.uvh5 --baseline stand1,stand17 --picture pair.png',
        'one pair over time and frequency',
      ],
      ['inspect visibilities.uvh5 --uv uv.png --map map.png', 'UV coverage and a map of the array'],
      [
        'inspect drift.uvh5 --fringes fringes.png --fringe-of Sun',
        'a drift scan of a few dishes, the fringe of the Sun over it, baselines fitted',
      ],
      ['inspect gains.json --picture gains.png', 'amplitude and phase of every gain'],
      ['inspect image-beam.fits --picture beam.png', 'a FITS image, such as that of the beam'],
      ['inspect night.vdif --rate 32MHz --whole', 'how much was lost, and where'],
      ['inspect voltages.sigmf-meta --spectrum spectrum.png', 'a picture of its band'],
      ['inspect psr.fil --picture psr.png', 'a beam: header, dynamic spectrum'],
      ['inspect capture.pcap', 'packets: formats, senders, what was lost'],
    ],
  });
}
