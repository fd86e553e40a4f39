/**
 * Runs one stream epoch through the chain: spectra are made or received, correlated once, imaged by either method at a
 * separate cadence, and emitted as integrations. The stages are those of the batch commands, so the results have the
 * same bits.
 */
import type { Integration } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import { addSeconds, type Instant } from '../core/instant.js';
import type { Source } from '../core/sources.js';
import {
  observe,
  type ComposedProduct,
  prepareDirectProduct,
  refuseUnfitSums,
  spectraOfFront,
  type Front,
} from '../compose/index.js';
import {
  type RunOptions,
  calibratedAt,
  leavingOutEmpty,
  type Calibrated,
  type SkyImage,
  type CardIntegration,
  dividedClock,
  integrationClock,
  type SpectrumGrid,
  prepareImage,
  type ImageInput,
  queued,
  chain,
  passing,
  type Account,
  type Stage,
  imagedInputs,
  type Emit,
  type IntegrationClock,
} from '../stages/index.js';
import { frontOf } from './front.js';
import { leavingOutLate } from './late.js';
import type { LiveImaging, LiveSettings } from './settings.js';
import type { Clocks } from './steering.js';

export type { LiveImaging, LiveSettings } from './settings.js';

/** Lengths that differ by less are equal: for numbers written with twelve digits, like 33.3333333333ms. */
const SAME = 1e-11;

/** The number of images per integration. It is a whole number: both are cut on one grid. */
export function imagesIn(integrationS: number, everyS: number): number {
  const images = Math.round(integrationS / everyS);
  if (images < 1 || Math.abs(images * everyS - integrationS) > SAME * integrationS) {
    const whole = Math.max(1, images);
    const seconds = (length: number): string => `${Number(length.toPrecision(12))}s`;
    refuse(
      'products.visibilities.integration',
      `an integration of ${integrationS} s is no whole number of images of ${everyS} s`,
      `give products.visibilities.integration as a multiple of products.images.every, like ${seconds(whole * everyS)}; or products.images.every ${seconds(integrationS / whole)}`,
    );
  }
  return images;
}

/** Clocks for integrations of any length; images stay on the grid of the start of the run. */
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

/** The clocks of a stream epoch, steered if steering is enabled. */
function epochClocks(source: Source, grid: SpectrumGrid, settings: LiveSettings): Clocks {
  const { steering } = settings;
  const plan = planClocks(settings, grid);
  if (!steering) return plan(settings.integrationS);
  const clocks = plan(steering.integration.latest);
  return steering.follow(source, grid, clocks, (integrationS) => plan(integrationS).files);
}

export async function runStreamEpoch(
  source: Source,
  settings: LiveSettings,
  sinks: LiveSinks,
  options: RunOptions = {},
): Promise<Account> {
  const front = frontOf(source, settings);
  if (settings.values === 'sums') refuseUnfitSums(front);
  const { grid } = spectraOfFront(front);
  const { cuts, files } = epochClocks(source, grid, settings);
  const { backend, flaggedInputs, look, steering } = settings;
  const flagsAt = steering && ((start: Instant) => steering.flags.at(start));
  const own = productsOf(front, { cuts, files }, settings, sinks);
  const further = await settings.further?.(front, source);
  const products = [...(further?.first ?? []), ...own, ...(further?.composed ?? [])];
  try {
    const account = await observe(
      { front, products, flaggedInputs, look, flagsAt },
      ...([[backend], options] as const),
    );
    await further?.finish();
    return account;
  } catch (error) {
    await further?.keep();
    throw error;
  }
}

/** The products made from spectra: files of integrations, and images from them or directly. */
function productsOf(
  front: Front,
  { cuts, files }: Clocks,
  settings: LiveSettings,
  sinks: LiveSinks,
): readonly ComposedProduct[] {
  const { backend, imaging, steering, vanVleck, flags } = settings;
  const written = passing(sinks.integration);
  const kept: ComposedProduct = {
    // Steering counts the current integration by `cuts`.
    from: 'integrations',
    clock: imaging ? files : cuts,
    vanVleck,
    values: settings.values,
    look: sinks.beforeGain,
    // Only files omit the other channels: the page shows all of them.
    flags: flags && { ...flags, channels: undefined },
    // The disk must not delay a card: then files are written by a separate thread.
    stage: backend.kind === 'cuda' ? queued(written, 2) : written,
  };
  if (!imaging) return [kept];
  // Summing and reading back millions of unused products costs a card more than the images.
  const isKept = backend.kind !== 'cuda' || settings.integrations !== 'none' || steering !== undefined;
  const others = isKept ? [kept] : [];
  const images = imagesProduct(front, cuts, { ...settings, imaging }, { ...sinks, onCard: true });
  return [...others, images];
}

/** Images directly from spectra, or from integrations with the gains of each. An empty image is only reported. */
export function imagesProduct(
  front: Front,
  clock: IntegrationClock,
  settings: LiveSettings & { readonly imaging: LiveImaging },
  sinks: Pick<LiveSinks, 'image' | 'noImage'> & { readonly onCard?: true },
): ComposedProduct {
  const { backend, imaging, steering, imagers: store } = settings;
  const { frequenciesHz } = spectraOfFront(front);
  // Machines with parts of one band cut at UTC instants and use the same plans.
  const plannedFor = settings.align === 'utc' ? ('utc' as const) : undefined;
  const { everyS, rules, autos, image } = imaging;
  const shown = <In extends object>(stage: Stage<In, SkyImage>): Stage<In, unknown> =>
    leavingOutLate(
      leavingOutEmpty(chain(stage, passing<SkyImage>(sinks.image)), sinks.noImage),
      settings.late,
    );
  if (imaging.by === 'direct') {
    const direct = prepareDirectProduct(front, {
      backend,
      telescope: settings.telescope,
      image,
      plannedFor,
      lastsS: everyS,
      flaggedInputs: settings.flaggedInputs,
      rules,
      autos,
      store,
      calibrated: steering
        ? (moment, start) => steering.directGains(moment, frequenciesHz.length, start)
        : imaging.calibrated,
    });
    return { from: 'spectra', clock, stage: shown(direct) };
  }
  const { telescope, calibrated } = imagedInputs(settings);
  const images = prepareImage({
    backend,
    telescope,
    frequenciesHz: settings.frequenciesHz,
    image,
    method: imaging.method,
    plannedFor,
    store,
    weight: imaging.weight,
    autos: autos ?? 'leave-out',
    beam: 'leave-out',
  });
  const gainsOf = ({
    start,
    durationS,
  }: Pick<Integration, 'start' | 'durationS'>): Calibrated | undefined => {
    const middle = addSeconds(start, durationS / 2);
    return steering
      ? steering.calibratedAt(start, middle)
      : calibrated && calibratedAt(calibrated, middle, start);
  };
  const stage = shown(calibrating(images, gainsOf));
  return {
    from: 'integrations',
    clock,
    vanVleck: imaging.vanVleck,
    flags: rules && { rules },
    stage,
    ...(sinks.onCard && { onCard: stage }),
  };
}

/** Integrations with their gains. */
const calibrating = <Out>(
  stage: Stage<ImageInput, Out>,
  gainsOf: (integration: Pick<Integration, 'start' | 'durationS'>) => Calibrated | undefined,
): Stage<Integration | CardIntegration, Out> => ({
  ...stage,
  push: (integration, emit) => {
    const calibration = gainsOf(integration);
    return stage.push(calibration ? { integration, calibration } : integration, emit);
  },
});

interface LiveSinks {
  readonly integration: Emit<Integration>;
  /** Called with integrations for files before gains are divided out. */
  readonly beforeGain?: (integration: Integration) => void;
  /** Its arrays are reused for the next. */
  readonly image: Emit<SkyImage>;
  /** No data were left for an image. */
  readonly noImage: (why: string) => void;
}

const ignore = (): Promise<void> => Promise.resolve();

/**
 * Runs the observation once on zeros before listening: kernels are compiled, memory is touched, and what cannot work is
 * refused before data can be lost.
 */
export async function rehearse(silence: Source, settings: LiveSettings): Promise<void> {
  // Statistics of zeros are not counted.
  const { vanVleck, flags } = settings;
  const uncounted = {
    ...settings,
    vanVleck: vanVleck && {},
    flags: flags && { ...flags, tally: undefined },
    further: undefined,
  };
  await runStreamEpoch(silence, uncounted, { integration: ignore, image: ignore, noImage: () => undefined });
}
