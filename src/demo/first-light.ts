/**
 * First light: a simulated sky through the whole chain, by direct imaging and from visibilities, with every product
 * written.
 */
import { join } from 'node:path';
import type { Backend } from '../backend/backend.js';
import type { GainComparison } from '../calibrate/index.js';
import type { Integration } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import { addSeconds } from '../core/instant.js';
import type { OnProgress } from '../core/progress.js';
import { formatBytes } from '../core/units.js';
import { voltageSizeBytes } from '../core/axes.js';
import {
  makeFolder,
  openFile,
  visibilityFormatFor,
  writeGainFiles,
  type VisibilityHeader,
  type VoltageRecording,
} from '../formats/index.js';
import type { ImageGeometry } from '../image/index.js';
import { sourcesUp, type SourceUp } from '../sky/above.js';
import { skyFrame } from '../sky/frame.js';
import type { SimulationPlan } from '../sky/simulation-plan.js';
import { calibrateIntegration } from '../visibilities/index.js';
import {
  channelsOf,
  planChannels,
  writeSky,
  type PictureOptions,
  recordSimulation,
  planSky,
  withCentre,
  type ImageSettings,
  type SkyImage,
  snapshotOnSky,
  type Account,
  written,
} from '../stages/index.js';
import { correlateVoltages, imageDirectly, imageIntegration } from '../compose/index.js';
import {
  beamPixels,
  expectedGains,
  findBrightSources,
  gainErrors,
  largestDifference,
  type FoundSource,
} from './demo.js';

/** For the sources that the gains are solved with. */
const MINIMUM_ALTITUDE_DEG = 1;

interface FirstLightSettings {
  readonly simulation: SimulationPlan;
  readonly channels: number;
  readonly taps: number;
  readonly image: ImageSettings;
  /** Output folder. */
  readonly folder: string;
  readonly history: readonly string[];
}

/** Receives the steps as they happen, for a terminal. */
interface Watcher {
  stage(title: string): { readonly update: OnProgress; done(note?: string): number };
}

interface FirstLight {
  readonly seconds: Readonly<Record<'simulate' | 'correlate' | 'calibrate' | 'image' | 'direct', number>>;
  readonly account: Account;
  readonly gains: GainComparison;
  readonly plan: ImageGeometry;
  readonly beamPixels: number;
  readonly found: readonly FoundSource[];
  readonly faint: readonly SourceUp[];
  /**
   * Of the two images, relative to the brightest pixel; and the predicted error of the direct one, relative to a
   * source's peak.
   */
  readonly difference: number;
  readonly predicted: number;
}

/** Refuses, before the work, an array too small to calibrate, too wide for the image, or without a sky. */
function check({ simulation, image }: FirstLightSettings): void {
  const { telescope, start, sources, centreFrequencyHz, sampleRateHz } = simulation;
  if (telescope.stations.length < 3) {
    refuse('demo', `${telescope.name} has ${telescope.stations.length} stations`, 'calibrating takes three');
  }
  const frame = skyFrame(telescope.site, start);
  const element = { telescope, frequencyHz: centreFrequencyHz };
  if (sourcesUp(sources, frame, MINIMUM_ALTITUDE_DEG, element).length === 0) {
    refuse(
      'demo',
      `none of ${sources.map(({ name }) => name).join(', ')} is above ${MINIMUM_ALTITUDE_DEG}° at that time`,
      'choose another `time`, or other `sources`',
    );
  }
  planSky(telescope, frame, Float64Array.of(centreFrequencyHz + sampleRateHz / 2), image);
}

export async function firstLight(
  settings: FirstLightSettings,
  backend: Backend,
  watcher: Watcher,
): Promise<FirstLight> {
  check(settings);
  const { simulation, folder, history } = settings;
  await makeFolder(folder);
  const path = join(folder, 'voltages.sigmf-meta');
  const stage = watcher.stage('simulate voltages');
  await recordSimulation(simulation, path, { history, onProgress: stage.update });
  const bytes = simulation.samples * simulation.inputs * voltageSizeBytes(simulation.type);
  const simulateS = stage.done(formatBytes(bytes));
  const recording = await openFile(path);
  try {
    if (recording.kind !== 'voltages')
      throw new Error('a recording of voltages was written, another thing read');
    return await fromRecording(recording, settings, { backend, watcher, simulateS });
  } finally {
    await recording.close();
  }
}

async function fromRecording(
  recording: VoltageRecording,
  settings: FirstLightSettings,
  run: { readonly backend: Backend; readonly watcher: Watcher; readonly simulateS: number },
): Promise<FirstLight> {
  const { simulation, folder, history } = settings;
  const { telescope, sources } = simulation;
  const { backend, watcher, simulateS } = run;
  const plan = planChannels(recording, {
    channels: settings.channels,
    taps: settings.taps,
    outputType: 'ci8',
  });
  const { frequenciesHz } = channelsOf(recording, plan);
  const channelWidthHz = simulation.sampleRateHz / settings.channels;
  const common = { backend, telescope, frequenciesHz };

  const correlateStage = watcher.stage('channelise and correlate');
  const all: Integration[] = [];
  const account = await correlateVoltages(
    recording,
    plan,
    { backend, onProgress: correlateStage.update },
    (one) => {
      all.push(one);
      return Promise.resolve();
    },
  );
  const [integration] = all;
  const middle = addSeconds(integration.start, integration.durationS / 2);
  const header: VisibilityHeader = {
    telescope,
    polarisations: telescope.polarisations,
    frequenciesHz,
    channelWidthHz,
    phaseCentre: skyFrame(telescope.site, middle).zenith,
    object: 'zenith',
    feedFrame: 'feeds',
    history,
  };
  for (const name of ['visibilities.uvfits', 'visibilities.uvh5']) {
    const path = join(folder, name);
    await written(
      () => visibilityFormatFor(path).createVisibilities(path, header),
      (append) => append(integration),
    );
  }
  const spectra = `${account.spectra} ${account.spectra === 1 ? 'spectrum' : 'spectra'}`;
  const correlateS = correlateStage.done(
    `${spectra} × ${integration.counts.length / settings.channels} baselines`,
  );

  const calibrateStage = watcher.stage('calibrate');
  const calibrated = await calibrateIntegration(integration, {
    ...common,
    sources,
    minimumAltitudeDeg: MINIMUM_ALTITUDE_DEG,
  });
  const { calibration } = calibrated;
  await writeGainFiles(
    join(folder, 'gains.json'),
    {
      telescope: telescope.name,
      stations: telescope.stations.map(({ name }) => name),
      polarisations: telescope.polarisations,
      frequenciesHz,
      time: middle,
      ...calibration,
      sources: calibrated.sources.map(({ source }) => source.name),
      history,
    },
    { telescope, channelWidthHz, durationS: integration.durationS },
  );
  const gains = gainErrors(calibrated, expectedGains(simulation, plan, frequenciesHz));
  const calibrateS = calibrateStage.done(
    `gain phases within ${gains.rmsPhaseErrorDeg.toFixed(2)}° rms of the truth`,
  );

  const setup = { ...common, calibrated: calibration, weight: 'natural' } as const;
  const pictures: PictureOptions = {
    telescope,
    method: `From visibilities · ${backend.kind} backend`,
    unit: 'Jy/beam',
    channelWidthHz,
    channels: 'average',
    ...(calibration.crossHand.how === 'unknown' && { crossHands: 'unknown' }),
    history,
    sources,
  };
  const onSky = <Sky extends SkyImage>(sky: Sky, autos: 'include' | 'leave-out'): Sky =>
    snapshotOnSky(sky, { kind: 'feeds' }, { telescope, autos, crossHands: pictures.crossHands });
  const imageStage = watcher.stage('image from visibilities');
  // Both images have the axes of the direct one.
  const onAxes = withCentre(telescope, frequenciesHz, settings.image);
  const image = await imageIntegration(integration, { ...setup, autos: 'leave-out' }, onAxes);
  await writeSky(
    { fits: join(folder, 'image.fits'), png: join(folder, 'image.png') },
    onSky(image, 'leave-out'),
    pictures,
  );
  const imageS = imageStage.done();

  const directStage = watcher.stage('image directly');
  const { sky: direct, directError } = await imageDirectly(
    recording,
    plan,
    // Its errors are measured against the truth and reported.
    { ...common, calibrated: calibration, onProgress: directStage.update, beyond: 'accept' },
    onAxes,
  );
  await writeSky(
    { fits: join(folder, 'direct.fits'), png: join(folder, 'direct.png') },
    onSky(direct, 'include'),
    {
      ...pictures,
      method: `Direct imaging (EPIC) · ${backend.kind} backend`,
    },
  );
  const directS = directStage.done(`${direct.samples} time steps`);

  const compareStage = watcher.stage('compare');
  // A direct image includes the autocorrelations, so this one does too.
  const same = await imageIntegration(integration, { ...setup, autos: 'include', beam: 'leave-out' }, onAxes);
  const difference = largestDifference(same.image, direct.image);
  const { found, faint } = findBrightSources(simulation, image, direct);
  compareStage.done();
  return {
    seconds: {
      simulate: simulateS,
      correlate: correlateS,
      calibrate: calibrateS,
      image: imageS,
      direct: directS,
    },
    account,
    gains,
    plan: image.plan,
    beamPixels: beamPixels(telescope, image.plan),
    found,
    faint,
    difference,
    predicted: directError.anywhere,
  };
}
