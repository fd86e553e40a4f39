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
  type ImagerStore,
  type Emit,
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
  const { backend, flaggedInputs, imaging, steering, vanVleck, flags } = settings;
  const { frequenciesHz } = spectraOfFront(front);
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
  // Machines with parts of one band cut at UTC instants and use the same plans.
  const plannedFor = settings.align === 'utc' ? ('utc' as const) : undefined;
  const { everyS, rules, autos } = imaging;
  // Summing and reading back millions of unused products costs a card more than the images.
  const isKept = backend.kind !== 'cuda' || settings.integrations !== 'none' || steering !== undefined;
  const others = isKept ? [kept] : [];
  if (imaging.by === 'direct') {
    const direct = prepareDirectProduct(front, {
      backend,
      telescope: settings.telescope,
      image: imaging.image,
      plannedFor,
      lastsS: everyS,
      flaggedInputs,
      rules,
      autos,
      store: settings.imagers,
      calibrated: steering
        ? (moment, start) => steering.directGains(moment, frequenciesHz.length, start)
        : imaging.calibrated,
    });
    const image = forgiving(chain(direct, passing<SkyImage>(sinks.image)), sinks);
    const stage = leavingOutLate(image, settings.late);
    return [...others, { from: 'spectra', clock: cuts, stage }];
  }
  const image = forgiving(
    imagedByVisibilities({ ...settings, imaging }, passing<SkyImage>(sinks.image), settings.imagers),
    sinks,
  );
  const stage = leavingOutLate(image, settings.late);
  const { vanVleck: corrected } = imaging;
  const flagged = rules && { rules };
  const images = { from: 'integrations', clock: cuts, vanVleck: corrected, flags: flagged } as const;
  return [...others, { ...images, stage, onCard: stage }];
}

/** Images from integrations, with the gains of each integration. */
export function imagedByVisibilities(
  settings: LiveSettings & { readonly imaging: LiveImaging },
  sink: Stage<SkyImage, unknown>,
  store?: ImagerStore,
): Stage<Integration | CardIntegration, unknown> {
  const { backend, frequenciesHz, imaging, steering, align } = settings;
  const { telescope, calibrated } = imagedInputs(settings);
  const images = prepareImage({
    backend,
    telescope,
    frequenciesHz,
    image: imaging.image,
    method: imaging.method,
    plannedFor: align === 'utc' ? 'utc' : undefined,
    store,
    weight: imaging.weight,
    autos: imaging.autos ?? 'leave-out',
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
  return calibrating(chain(images, sink), gainsOf);
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

/** An empty image is reported, and the run continues. */
export const forgiving = <In, Out>(
  stage: Stage<In, Out>,
  { noImage }: Pick<LiveSinks, 'noImage'>,
): Stage<In, Out> => leavingOutEmpty(stage, noImage);

interface LiveSinks {
  readonly integration: Emit<Integration>;
  /** Called with integrations for files before gains are divided out. */
  readonly beforeGain?: (integration: Integration) => void;
  /** Its arrays are reused for the next. */
  readonly image: Emit<SkyImage>;
  /** No data were left for an image. */
  readonly noImage: (why: string) => void;
}
