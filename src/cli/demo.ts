/** corella demo: first light. A sky over a telescope through the whole chain, by both roads. */
import { join } from 'node:path';
import type { Command } from 'commander';
import type { BackendKind } from '../core/backend-kinds.js';
import { formatInstant, parseInstant } from '../core/instant.js';
import { DEGREES_PER_RADIAN, formatHz } from '../core/units.js';
import { writeFileWhole } from '../formats/index.js';
import { type FoundSource, firstLight } from '../demo/index.js';
import { skyFrame } from '../sky/frame.js';
import { planSimulation } from '../sky/simulation-plan.js';
import { loadTelescope } from '../telescope/load.js';
import { telescopeNames } from '../telescope/registry.js';
import { selectStations } from '../telescope/select.js';
import {
  addBackendOptions,
  addExamples,
  parseCount,
  parseWhole,
  type BackendOptions,
} from './options/command.js';
import { addEopOption } from './options/eop-option.js';
import { addOverwriteOption, checkDemoFolder, parseFolder, type OutputOptions } from './options/outputs.js';
import { angle, fieldOf, plainNumber } from './options/quantity.js';
import { addSourceOption, chooseSources, FIRST_LIGHT_TIME } from './options/sky-options.js';
import { withBackend } from './open.js';
import { history } from './report/history.js';
import { openTerminal, table } from './report/terminal.js';

interface DemoOptions extends BackendOptions, OutputOptions {
  readonly out: string;
  readonly telescope: string;
  readonly stations?: number;
  readonly time: string;
  readonly channels?: number;
  readonly spectra?: number;
  readonly pixels?: number;
  readonly field?: number;
  readonly taps: number;
  readonly noise: number;
  readonly seed: number;
  readonly sources: string;
  /** An address, or true for the usual one. */
  readonly page?: string | true;
}

interface DemoSize {
  readonly stations: number;
  readonly channels: number;
  readonly spectra: number;
  readonly pixels: number;
}

/** What each backend does in well under a minute. */
const sizes: Readonly<Record<BackendKind, DemoSize>> = {
  reference: { stations: 64, channels: 8, spectra: 2048, pixels: 128 },
  cpu: { stations: 256, channels: 16, spectra: 2048, pixels: 256 },
  cuda: { stations: 256, channels: 16, spectra: 2048, pixels: 256 },
};

export function registerDemo(program: Command): void {
  const command = program
    .command('demo')
    .option('-o, --out <folder>', 'where the products go', parseFolder, 'first-light')
    .option(
      '--telescope <name>',
      `${telescopeNames().join(', ')}, or the path of a description in JSON`,
      'lwasv',
    )
    .option(
      '--stations <number>',
      'of them, spread evenly (default: what the backend does quickly)',
      parseCount,
    )
    .option('--time <utc>', 'when', FIRST_LIGHT_TIME)
    .option('--channels <number>', "of the telescope's own width (default by backend)", parseCount)
    .option('--spectra <number>', 'time steps in each channel (default by backend)', parseCount)
    .option('--pixels <number>', 'along each side (default by backend)', parseCount)
    .option(
      '--field <angle>',
      'width of the field around the zenith, in degrees or with a unit (default: the whole sky)',
      angle('--field'),
    )
    .option('--taps <number>', 'of the polyphase filter', parseCount, 8)
    .option('--noise <jy>', 'receiver noise of each input, as a flux', plainNumber('--noise'), 10_000)
    .option('--page [address]', 'show it in a browser afterwards, at PORT or HOST:PORT, until Ctrl-C')
    .option('--seed <number>', 'the same seed gives the same sky', parseWhole, 1)
    .action(run);
  addSourceOption(command, 'what shines');
  addOverwriteOption(command);
  addBackendOptions(command);
  addEopOption(command);
  addExamples(command, [
    ['demo', 'first light, into first-light/'],
    ['demo --page', 'the same, and then on a page'],
    ['demo --telescope eda2 --time 2026-01-15T04:00:00Z --out sun', 'the Sun over EDA2'],
    [
      'demo --telescope mwa128 --stations 32 --field 8 --sources spot@88:90:5000',
      'one source near the zenith: an array this wide images a narrow field',
    ],
    ['demo --backend reference --stations 32 --json', 'smaller, and the summary on standard output'],
  ]);
}

async function run(options: DemoOptions): Promise<void> {
  await checkDemoFolder(options.out, options);
  await withBackend(options, async (backend) => {
    const terminal = openTerminal(options);
    const size = { ...sizes[backend.kind], ...given(options) };
    const whole = await loadTelescope(options.telescope);
    const telescope = selectStations(
      whole,
      Math.min(size.stations, options.stations ?? whole.stations.length),
    );
    const start = parseInstant(options.time, '--time');
    const sources = chooseSources(options.sources, skyFrame(telescope.site, start));
    const { recording } = telescope;
    const channelWidthHz = recording.sampleRateHz / recording.channels;
    terminal.say(
      `${telescope.title}: ${telescope.stations.length} stations, ${formatInstant(start, 0)}, ` +
        `${size.channels} channels of ${formatHz(channelWidthHz)} at ${formatHz(recording.centreFrequencyHz)}`,
    );
    terminal.say(`backend ${backend.kind}: ${backend.description}`);
    const simulation = planSimulation({
      telescope,
      start,
      samples: (size.spectra + options.taps - 1) * size.channels,
      sampleRateHz: channelWidthHz * size.channels,
      centreFrequencyHz: recording.centreFrequencyHz,
      type: 'ci8',
      sources,
      systemFluxJy: options.noise,
      seed: options.seed,
    });
    const { out } = options;
    const light = await firstLight(
      {
        simulation,
        channels: size.channels,
        taps: options.taps,
        image: { pixels: size.pixels, field: fieldOf(options.field), kernelSize: 5 },
        folder: out,
        history: history({ telescope }),
      },
      backend,
      terminal,
    );
    const { found, faint, gains, difference } = light;
    const summary = {
      backend: backend.kind,
      telescope: telescope.name,
      stations: telescope.stations.length,
      polarisations: telescope.polarisations,
      channels: size.channels,
      spectra: light.account.spectra,
      time: formatInstant(start),
      seed: options.seed,
      seconds: light.seconds,
      saturated: light.account.saturated,
      missingSamples: light.account.missingSamples,
      gains,
      beamPixels: light.beamPixels,
      sources: found,
      faintSources: faint.map(({ source, altitudeDeg, apparentFluxJy }) => ({
        name: source.name,
        altitudeDeg,
        apparentFluxJy,
      })),
      directVersusVisibility: { maxRelativeDifference: difference, predicted: light.predicted },
    };
    await writeFileWhole(
      join(out, 'summary.json'),
      new TextEncoder().encode(`${JSON.stringify(summary, null, 2)}\n`),
    );
    terminal.result(summary, [
      '',
      ...(found.length === 0 ? ['no bright source is inside the field'] : foundTable(found)),
      `a pixel is ${Number((light.plan.pixelSize * DEGREES_PER_RADIAN).toPrecision(2))}°, the array's beam about ${Number(light.beamPixels.toPrecision(2))} pixels wide`,
      '',
      `gains: ${(100 * gains.rmsRelativeError).toFixed(2)} % rms, phases ${gains.rmsPhaseErrorDeg.toFixed(2)}° rms from the truth`,
      `the two images differ by at most ${difference.toExponential(1)} of the brightest pixel; ${light.predicted.toExponential(1)} of a source is predicted`,
      `look at ${join(out, 'image.png')} and ${join(out, 'direct.png')}; all products are in ${out}/`,
      ...(options.page === undefined
        ? [
            `or in a browser: corella view ${join(out, 'visibilities.uvh5')} ${join(out, 'gains.json')}` +
              (options.field === undefined ? '' : ` --field ${options.field}`),
          ]
        : []),
    ]);
    if (options.page === undefined) return;
    const shown = ['visibilities.uvh5', 'gains.json', 'image.fits', 'direct.fits'];
    const { showFiles } = await import('./view.js');
    await showFiles(
      shown.map((name) => join(out, name)),
      {
        ...(options.page !== true && { page: options.page }),
        machine: backend,
        ...(options.field !== undefined && { fieldDeg: options.field }),
        say: (line) => {
          terminal.say(line);
        },
      },
    );
  });
}

const foundTable = (found: readonly FoundSource[]): string[] =>
  table(
    ['source', 'altitude', 'flux in the beam', 'peak found', 'error, image', 'error, direct'],
    found.map((source) => [
      source.name,
      `${source.altitudeDeg.toFixed(1)}°`,
      `${source.apparentFluxJy.toFixed(0)} Jy`,
      `${source.peakJy.toFixed(0)} Jy`,
      `${source.errorPixels.toFixed(2)} pixels`,
      `${source.directErrorPixels.toFixed(2)} pixels`,
    ]),
  );

/** Only what the user said. */
function given({ stations, channels, spectra, pixels }: DemoOptions): Partial<DemoSize> {
  return Object.fromEntries(
    Object.entries({ stations, channels, spectra, pixels }).filter(([, value]) => value !== undefined),
  );
}
