/**
 * One session of a source through the chain: spectra are made or taken, correlated once, imaged by either road at a
 * cadence of their own, and handed over as integrations. The same stages as the batch commands use, so the same bits.
 */
import type { Integration } from '../../core/blocks.js';
import { preparing } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import type { Source } from '../../core/sources.js';
import type { LiveSpectraSource } from '../../receive/index.js';
import { run, type RunOptions } from '../run.js';
import { isEmptyImage, type SkyImage } from '../sky-image.js';
import { prepareChannelise, spectrumGrid } from '../stages/channelise.js';
import { dividedClock, integrationClock, type IntegrationClock, type SpectrumGrid } from '../stages/clock.js';
import { prepareCorrelate } from '../stages/correlate.js';
import { prepareDirectImage } from '../stages/direct-image.js';
import { prepareImage, type ImageInput } from '../stages/image.js';
import { flagging, powersFor } from '../stages/kurtosis.js';
import type { TimedSpectra } from '../stages/spectra.js';
import { both, chain, passing, type Account, type Stage } from '../stages/stage.js';
import { prepareTakeSpectra, spectraPerBlock } from '../stages/take-spectra.js';
import { imagedInputs } from './left-out.js';
import type { LiveSettings } from './settings.js';
import type { LiveSinks } from './sinks.js';
import { flagged, type Clocks, type Steering } from './steering.js';
import { prepareSum } from './sum.js';

export type { LiveImaging, LiveSettings } from './settings.js';
export type { LiveSinks } from './sinks.js';

/** Lengths that differ by less are one: of numbers written with twelve digits, like 33.3333333333ms. */
const SAME = 1e-11;

/** How many images an integration lasts for. Integrations are whole numbers of images: both are cut on one grid. */
export function imagesIn(integrationS: number, everyS: number): number {
  const images = Math.round(integrationS / everyS);
  if (images < 1 || Math.abs(images * everyS - integrationS) > SAME * integrationS) {
    const whole = Math.max(1, images);
    const seconds = (length: number): string => `${Number(length.toPrecision(12))}s`;
    refuse(
      'live',
      `an integration of ${integrationS} s is no whole number of images of ${everyS} s`,
      `give --integration as a multiple of --image, like ${seconds(whole * everyS)}; or --image ${seconds(integrationS / whole)}`,
    );
  }
  return images;
}

/** Clocks for integrations of any length; images are cut on the grid that the night began with. */
function planClocks(
  { integrationS: firstS, align, imaging }: LiveSettings,
  grid: SpectrumGrid,
): (integrationS: number) => Clocks {
  if (!imaging)
    return (integrationS) => {
      const files = integrationClock({ integrationS, align }, grid);
      return { cuts: files, files };
    };
  const { everyS } = imaging;
  const clock = dividedClock({ integrationS: firstS, align }, imagesIn(firstS, everyS), grid);
  const cuts = clock(1);
  return (integrationS) => ({ cuts, files: clock(imagesIn(integrationS, everyS)) });
}

/** The clocks of a session, steered where someone steers. */
function sessionClocks(source: Source, grid: SpectrumGrid, settings: LiveSettings): Clocks {
  const { steering } = settings;
  const plan = planClocks(settings, grid);
  if (!steering) return plan(settings.integrationS);
  const clocks = plan(steering.integration.latest);
  return steering.follow(source, grid, clocks, (integrationS) => plan(integrationS).files);
}

export async function runSession(
  source: Source,
  settings: LiveSettings,
  sinks: LiveSinks,
  options: RunOptions = {},
): Promise<Account> {
  // An image by the direct road has one count of a pair of stations.
  const gapsCover = settings.gapsCover ?? (settings.imaging?.road === 'direct' ? 'stations' : 'inputs');
  if (source.kind === 'spectra') {
    const { cuts, files } = sessionClocks(source, source, settings);
    if (settings.card && isLiveSpectra(source)) {
      const stage = settings.card.stage({ grid: source, cuts, files, sinks });
      return run(source.cells(), stage, nobody, options);
    }
    const stage = await preparing(async (closers) => {
      const take = closers.keep(
        await prepareTakeSpectra({
          ...{ backend: settings.backend, source, clock: cuts, gapsCover },
          flagged: settings.kurtosis !== undefined,
        }),
      );
      const products = await prepareProducts(source, source, files, settings, sinks);
      return chain(take, await flagging({ ...source, gapsCover }, settings, products));
    });
    return run(source.blocks(spectraPerBlock(source)), stage, nobody, options);
  }
  const plan = settings.channels ?? refuse('live', 'voltages need channels', 'say how many with --channels');
  const grid = spectrumGrid(source, plan);
  const { cuts, files } = sessionClocks(source, grid, settings);
  const shape = { ...plan.output, polarisations: source.polarisations };
  const stage = await preparing(async (closers) => {
    const channelise = closers.keep(
      await prepareChannelise({
        ...{ backend: settings.backend, plan, source, clock: cuts },
        ...powersFor(settings.kurtosis, plan.output),
      }),
    );
    const products = await prepareProducts(shape, grid, files, settings, sinks);
    return chain(
      channelise,
      await flagging({ ...shape, sampling: plan.sampling, gapsCover }, settings, products),
    );
  });
  return run(source.blocks(plan.blockSamples), stage, nobody, options);
}

/** Whether blocks can be taken as the ring holds them. */
export const isLiveSpectra = (source: Source): source is LiveSpectraSource =>
  source.kind === 'spectra' && 'cells' in source;

const nobody = (): Promise<void> => Promise.resolve();

type Shape = Pick<TimedSpectra['block']['shape'], 'type' | 'channels' | 'inputs'> & {
  readonly polarisations: 1 | 2;
};

/** What becomes of spectra. */
async function prepareProducts(
  shape: Shape,
  grid: SpectrumGrid,
  files: IntegrationClock,
  settings: LiveSettings,
  sinks: LiveSinks,
): Promise<Stage<TimedSpectra, unknown>> {
  const { backend, frequenciesHz, flaggedInputs, imaging, steering } = settings;
  const correlated = await prepareCorrelate({
    backend,
    spectra: shape,
    polarisations: shape.polarisations,
    grid,
    ...(flaggedInputs && { flaggedInputs }),
  });
  const seen = settings.look ? chain(passing<TimedSpectra>(settings.look), correlated) : correlated;
  const correlate = steering ? chain(seen, flagged(steering)) : seen;
  if (!imaging) return chain(correlate, passing(sinks.integration));
  const common = {
    backend,
    // Whoever steers hands gains over with each integration.
    ...(steering ? { telescope: imagedInputs(settings).telescope } : imagedInputs(settings)),
    frequenciesHz,
    image: imaging.image,
    // Machines with parts of one band cut at UTC's instants, and take the same plans.
    ...(settings.align === 'utc' && { plannedFor: 'utc' as const }),
  };
  if (imaging.road === 'direct') {
    const direct = prepareDirectImage({
      ...{ ...common, grid, lastsS: imaging.everyS },
      ...(steering && { gainsAt: (start) => steering.directGains(start, frequenciesHz.length) }),
    });
    return both<TimedSpectra, unknown>(
      recut(chain(correlate, passing(sinks.integration)), files),
      forgiving(chain(direct, passing<SkyImage>(sinks.image)), sinks),
    );
  }
  const image = prepareImage({ ...common, weight: imaging.weight, autos: 'leave-out', beam: 'leave-out' });
  const look = forgiving(calibrating(chain(image, passing<SkyImage>(sinks.image)), steering), sinks);
  return chain(
    correlate,
    both<Integration, unknown>(chain(prepareSum(files, grid), passing(sinks.integration)), look),
  );
}

/** Spectra cut more often than this stage wants to be. */
const recut = <Out>(stage: Stage<TimedSpectra, Out>, clock: IntegrationClock): Stage<TimedSpectra, Out> => ({
  ...stage,
  push: (spectra, emit) => stage.push({ ...spectra, cutAt: clock.cutAfter(spectra.index) }, emit),
});

/** Integrations with the gains that held when they began. */
const calibrating = <Out>(stage: Stage<ImageInput, Out>, steering?: Steering): Stage<Integration, Out> => ({
  ...stage,
  push: (integration, emit) => {
    const calibration = steering?.gains.at(integration.start);
    return stage.push(calibration ? { integration, calibration } : integration, emit);
  },
});

/** A picture of nothing is told, and the night goes on. */
const forgiving = <In, Out>(stage: Stage<In, Out>, { noImage }: LiveSinks): Stage<In, Out> => {
  const told = (error: unknown): void => {
    if (!isEmptyImage(error)) throw error;
    noImage(error.what);
  };
  return {
    ...stage,
    push: (item, emit) => stage.push(item, emit).catch(told),
    flush: (emit) => stage.flush(emit).catch(told),
  };
};
