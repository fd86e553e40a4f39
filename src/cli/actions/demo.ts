/** What corella demo does, loaded when it runs. */
import { join } from 'node:path';
import type { BackendKind } from '../../core/backend-kinds.js';
import { formatInstant, parseInstant } from '../../core/instant.js';
import { DEGREES_PER_RADIAN, formatHz, twoDigits } from '../../core/units.js';
import { writeFileWhole } from '../../formats/index.js';
import { type FoundSource, firstLight } from '../../demo/index.js';
import { skyFrame } from '../../sky/frame.js';
import { planSimulation } from '../../sky/simulation-plan.js';
import { loadTelescope } from '../../telescope/load.js';
import { selectStations } from '../../telescope/select.js';
import { checkDemoFolder } from '../options/outputs.js';
import { fieldOf } from '../options/quantity.js';
import { chooseSources } from '../options/sky-options.js';
import { withBackend } from '../open.js';
import { history } from '../report/history.js';
import { openTerminal, table } from '../report/terminal.js';
import type { DemoOptions } from '../demo.js';

interface DemoSize {
  readonly stations: number;
  readonly channels: number;
  readonly spectra: number;
  readonly pixels: number;
}

/** Options that do not change the output. */
const OF_THE_RUN = ['out', 'overwrite', 'json', 'quiet', 'page'];

/** Gains with a larger rms error count as failed calibration. */
const CALIBRATED = 0.25;

/** Sizes that each backend processes in well under a minute. */
const sizes: Readonly<Record<BackendKind, DemoSize>> = {
  reference: { stations: 64, channels: 8, spectra: 2048, pixels: 128 },
  cpu: { stations: 256, channels: 16, spectra: 2048, pixels: 256 },
  cuda: { stations: 256, channels: 16, spectra: 2048, pixels: 256 },
};

export async function run(options: DemoOptions): Promise<void> {
  const asked = Object.fromEntries(Object.entries(options).filter(([name]) => !OF_THE_RUN.includes(name)));
  await checkDemoFolder(options.out, asked, options);
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
    const isCalibrated = gains.rmsRelativeError < CALIBRATED;
    if (!isCalibrated) process.exitCode = 1;
    const summary = {
      options: asked,
      calibrated: isCalibrated,
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
      `a pixel is ${twoDigits(light.plan.pixelSize * DEGREES_PER_RADIAN)}°, the array's beam about ${twoDigits(light.beamPixels)} pixels wide`,
      '',
      `gains: ${(100 * gains.rmsRelativeError).toFixed(2)} % rms, phases ${gains.rmsPhaseErrorDeg.toFixed(2)}° rms from the truth`,
      ...(isCalibrated
        ? []
        : [
            'THE CALIBRATION FAILED: these gains are not the ones that were simulated, and the images are not right; take more --stations, more --spectra, less --noise or brighter --sources',
          ]),
      `the two images differ by at most ${difference.toExponential(1)} of the brightest pixel; ${light.predicted.toExponential(1)} of a source is predicted`,
      `look at ${join(out, 'image.png')} and ${join(out, 'direct.png')}; all products are in ${out}/`,
      ...(options.page === undefined
        ? [
            `or in a browser: corella view ${out}` +
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
        ...(typeof options.page === 'string' && { page: options.page }),
        machine: backend,
        fieldDeg: options.field,
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

/** Only options given by the user. */
function given({ stations, channels, spectra, pixels }: DemoOptions): Partial<DemoSize> {
  return Object.fromEntries(
    Object.entries({ stations, channels, spectra, pixels }).filter(([, value]) => value !== undefined),
  );
}
