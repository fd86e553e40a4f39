/** corella demo: first light. A sky over a telescope through the whole chain, by both roads. */
import { join } from 'node:path';
import type { Command } from 'commander';
import type { BackendKind } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import { addSeconds, formatInstant, parseInstant } from '../core/instant.js';
import { DEGREES_PER_RADIAN, formatBytes, formatHz } from '../core/units.js';
import { voltageSizeBytes } from '../core/axes.js';
import type { VisibilityHeader } from '../formats/format.js';
import { writeGainFiles } from '../formats/gain-files.js';
import { makeFolder, writeFileWhole } from '../formats/output.js';
import { visibilityFormatFor } from '../formats/registry.js';
import { calibrateIntegration } from '../pipeline/calibrate.js';
import { channelsOf, planChannels } from '../pipeline/channels.js';
import { newTally } from '../pipeline/correlate.js';
import {
  beamPixels,
  correlateAll,
  expectedGains,
  findBrightSources,
  type FoundSource,
  gainErrors,
  largestDifference,
} from '../pipeline/demo.js';
import { imageDirectly, imageIntegration, planSky, type ImageSettings } from '../pipeline/image.js';
import { writeSky, type PictureOptions } from '../pipeline/products.js';
import { recordSimulation } from '../pipeline/record.js';
import { writeIntegrations } from '../pipeline/visibilities.js';
import { sourcesUp } from '../sky/above.js';
import { skyFrame } from '../sky/frame.js';
import { planSimulation } from '../sky/simulation-plan.js';
import { loadTelescope } from '../telescope/load.js';
import { telescopeNames } from '../telescope/registry.js';
import { selectStations } from '../telescope/select.js';
import { addBackendOptions, addExamples, parseCount, parseWhole, type BackendOptions } from './command.js';
import { addEopOption } from './eop-option.js';
import { history } from './history.js';
import { fieldOf } from './image.js';
import { openVoltages, withBackend } from './open.js';
import { plainNumber } from './quantity.js';
import { addSourceOption, chooseSources, FIRST_LIGHT_TIME } from './sky-options.js';
import { openTerminal, spectraText, table } from './terminal.js';

/** Of what the gains are solved with. */
const MINIMUM_ALTITUDE_DEG = 1;

interface DemoOptions extends BackendOptions {
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
    .description('first light: simulate a sky, channelise, correlate, calibrate and image it by both roads')
    .option('-o, --out <folder>', 'where the products go', 'first-light')
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
      '--field <degrees>',
      'width of the field around the zenith (default: the whole sky)',
      plainNumber('--field'),
    )
    .option('--taps <number>', 'of the polyphase filter', parseCount, 8)
    .option('--noise <jy>', 'receiver noise of each input, as a flux', plainNumber('--noise'), 10_000)
    .option('--seed <number>', 'the same seed gives the same sky', parseWhole, 1)
    .action(run);
  addSourceOption(command, 'what shines');
  addBackendOptions(command);
  addEopOption(command);
  addExamples(command, [
    ['demo', 'first light, into first-light/'],
    ['demo --telescope eda2 --time 2026-01-15T04:00:00Z --out sun', 'the Sun over EDA2'],
    [
      'demo --telescope mwa128 --stations 32 --field 8 --sources spot@88:90:5000',
      'one source near the zenith: an array this wide images a narrow field',
    ],
    ['demo --backend reference --stations 32 --json', 'smaller, and the summary on standard output'],
  ]);
}

async function run(options: DemoOptions): Promise<void> {
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
    const channelWidthHz = telescope.recording.sampleRateHz / telescope.recording.channels;
    terminal.say(
      `${telescope.title}: ${telescope.stations.length} stations, ${formatInstant(start, 0)}, ` +
        `${size.channels} channels of ${formatHz(channelWidthHz)} at ${formatHz(telescope.recording.centreFrequencyHz)}`,
    );
    terminal.say(`backend ${backend.kind}: ${backend.description}`);

    const simulation = planSimulation({
      telescope,
      start,
      samples: (size.spectra + options.taps - 1) * size.channels,
      sampleRateHz: channelWidthHz * size.channels,
      centreFrequencyHz: telescope.recording.centreFrequencyHz,
      type: 'ci8',
      sources,
      systemFluxJy: options.noise,
      seed: options.seed,
    });
    const settings: ImageSettings = {
      pixels: size.pixels,
      field: fieldOf(options.field),
      kernelSize: 5,
    };
    // An array too small to calibrate, or too wide for the image, is refused now, not after the work.
    if (telescope.stations.length < 3)
      refuse(
        'demo',
        `${telescope.name} has ${telescope.stations.length} stations`,
        'calibrating takes three',
      );
    const element = { telescope, frequencyHz: simulation.centreFrequencyHz };
    if (sourcesUp(sources, skyFrame(telescope.site, start), MINIMUM_ALTITUDE_DEG, element).length === 0)
      refuse(
        'demo',
        `none of ${sources.map(({ name }) => name).join(', ')} is above ${MINIMUM_ALTITUDE_DEG}° at that time`,
        'choose another --time, or other --sources',
      );
    planSky(
      telescope,
      skyFrame(telescope.site, start),
      Float64Array.of(simulation.centreFrequencyHz + simulation.sampleRateHz / 2),
      settings,
    );
    const { out } = options;
    await makeFolder(out);
    const simulateStage = terminal.stage('simulate voltages');
    await recordSimulation(simulation, join(out, 'voltages.sigmf-meta'), {
      history: history({ telescope }),
      onProgress: simulateStage.update,
    });
    const simulateS = simulateStage.done(
      formatBytes(simulation.samples * simulation.inputs * voltageSizeBytes(simulation.type)),
    );

    const recording = await openVoltages(join(out, 'voltages.sigmf-meta'));
    try {
      const channels = planChannels(recording, {
        channels: size.channels,
        taps: options.taps,
        outputType: 'ci8',
      });
      const { frequenciesHz } = channelsOf(recording, channels);
      const tally = newTally();
      const correlateStage = terminal.stage('channelise and correlate');
      const integration = await correlateAll(recording, channels, backend, tally, correlateStage.update);
      const middle = addSeconds(integration.start, integration.durationS / 2);
      const header: VisibilityHeader = {
        telescope,
        polarisations: telescope.polarisations,
        frequenciesHz,
        channelWidthHz,
        phaseCentre: skyFrame(telescope.site, middle).zenith,
        object: 'zenith',
        history: history({ telescope }),
      };
      for (const name of ['visibilities.uvfits', 'visibilities.uvh5']) {
        const path = join(out, name);
        await writeIntegrations(
          () => visibilityFormatFor(path).createVisibilities(path, header),
          one(integration),
        );
      }
      const correlateS = correlateStage.done(
        `${spectraText(tally.spectra)} × ${integration.counts.length / size.channels} baselines`,
      );

      const calibrateStage = terminal.stage('calibrate');
      const calibrated = await calibrateIntegration(integration, {
        backend,
        telescope,
        frequenciesHz,
        sources,
        minimumAltitudeDeg: MINIMUM_ALTITUDE_DEG,
      });
      const { calibration } = calibrated;
      await writeGainFiles(
        join(out, 'gains.json'),
        {
          telescope: telescope.name,
          stations: telescope.stations.map(({ name }) => name),
          polarisations: telescope.polarisations,
          frequenciesHz,
          time: middle,
          ...calibration,
          sources: calibrated.sources.map(({ source }) => source.name),
          history: history({ telescope }),
        },
        { telescope, channelWidthHz, durationS: integration.durationS },
      );
      const gains = gainErrors(calibrated, expectedGains(simulation, channels, frequenciesHz));
      const calibrateS = calibrateStage.done(
        `gain phases within ${gains.rmsPhaseErrorDeg.toFixed(2)}° rms of the truth`,
      );

      const road = { backend, telescope, frequenciesHz, calibrated: calibration, weight: 'natural' } as const;
      const pictures: PictureOptions = {
        telescope,
        road: `From visibilities · ${backend.kind} backend`,
        unit: 'Jy/beam',
        channelWidthHz,
        channels: 'average',
        history: history({ telescope }),
        sources,
      };
      const imageStage = terminal.stage('image from visibilities');
      const image = await imageIntegration(integration, { ...road, autos: 'leave-out' }, settings);
      await writeSky({ fits: join(out, 'image.fits'), png: join(out, 'image.png') }, image, pictures);
      const imageS = imageStage.done();

      const directStage = terminal.stage('image directly');
      const direct = await imageDirectly(
        recording,
        channels,
        { backend, telescope, frequenciesHz, calibrated: calibration, onProgress: directStage.update },
        settings,
      );
      const directPictures = { ...pictures, road: `Direct imaging (EPIC) · ${backend.kind} backend` };
      await writeSky(
        { fits: join(out, 'direct.fits'), png: join(out, 'direct.png') },
        direct,
        directPictures,
      );
      const directS = directStage.done(`${direct.samples} time steps`);

      const compareStage = terminal.stage('compare');
      // The direct road multiplies every antenna with itself too: give the other road the same.
      const same = await imageIntegration(integration, { ...road, autos: 'include' }, settings);
      const difference = largestDifference(same.image, direct.image);
      const beam = beamPixels(telescope, image.plan);
      const { found, faint } = findBrightSources(simulation, image, direct);
      compareStage.done();

      const seconds = {
        simulate: simulateS,
        correlate: correlateS,
        calibrate: calibrateS,
        image: imageS,
        direct: directS,
      };
      const summary = {
        backend: backend.kind,
        telescope: telescope.name,
        stations: telescope.stations.length,
        polarisations: telescope.polarisations,
        channels: size.channels,
        spectra: tally.spectra,
        time: formatInstant(start),
        seed: options.seed,
        seconds,
        saturated: tally.saturated,
        missingSamples: tally.missingSamples,
        gains,
        beamPixels: beam,
        sources: found,
        faintSources: faint.map(({ source, altitudeDeg, apparentFluxJy }) => ({
          name: source.name,
          altitudeDeg,
          apparentFluxJy,
        })),
        directVersusVisibility: { maxRelativeDifference: difference },
      };
      await writeFileWhole(
        join(out, 'summary.json'),
        new TextEncoder().encode(`${JSON.stringify(summary, null, 2)}\n`),
      );
      terminal.result(summary, [
        '',
        ...(found.length === 0 ? ['no bright source is inside the field'] : foundTable(found)),
        `a pixel is ${Number((image.plan.pixelSize * DEGREES_PER_RADIAN).toPrecision(2))}°, the array's beam about ${Number(beam.toPrecision(2))} pixels wide`,
        '',
        `gains: ${(100 * gains.rmsRelativeError).toFixed(2)} % rms, phases ${gains.rmsPhaseErrorDeg.toFixed(2)}° rms from the truth`,
        `the two roads differ by at most ${difference.toExponential(1)} of the brightest pixel`,
        `look at ${join(out, 'image.png')} and ${join(out, 'direct.png')}; all products are in ${out}/`,
      ]);
    } finally {
      await recording.close();
    }
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

// eslint-disable-next-line @typescript-eslint/require-await -- a stream of one
async function* one<Item>(item: Item): AsyncGenerator<Item> {
  yield item;
}
