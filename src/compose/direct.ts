/**
 * Direct images (EPIC) as a product: what a front's spectra need before imaging, and what images are divided by.
 */
import type { Backend } from '../backend/backend.js';
import { gainsCA } from '../core/axes.js';
import type { SpectraBlock } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import { nothingToClose } from '../core/closing.js';
import { wholeStations, zeroGaps, type SpectraGap } from '../core/gaps.js';
import type { Telescope } from '../telescope/telescope.js';
import {
  isOfTime,
  type FlagRule,
  refuseLeakage,
  brightnessAtNominalGain,
  imagedTelescope,
  leftOutOf,
  calibratedAt,
  type Calibrated,
  type CalibratedAt,
  prepareDirectImage,
  type DirectImageSettings,
  type DirectSkyImage,
  type TimedSpectra,
  chain,
  changing,
  keepsNothing,
  type Stage,
  trackedGains,
} from '../stages/index.js';
import { gainOfFront, spectraOfFront, type Front } from './front.js';

interface DirectProduct extends Pick<
  DirectImageSettings,
  'image' | 'plannedFor' | 'store' | 'autos' | 'lastsS'
> {
  readonly backend: Backend;
  readonly telescope: Telescope;
  readonly calibrated?: Calibrated | CalibratedAt;
  /** [a], 1 where an input is left out. */
  readonly flaggedInputs?: Uint8Array;
  /** Flags by channel and time; there are no pairs and products. */
  readonly rules?: readonly FlagRule[];
}

/** From a front's spectra to images in the nominal unit. */
export function prepareDirectProduct(
  front: Front,
  product: DirectProduct,
): Stage<TimedSpectra, DirectSkyImage> {
  const { backend, flaggedInputs, telescope, image, plannedFor, store, autos, lastsS } = product;
  const { grid, frequenciesHz, polarisations } = spectraOfFront(front);
  const { gainRatio = 1 } = gainOfFront(front);
  const imaging = prepareDirectImage({
    backend,
    grid,
    frequenciesHz,
    image,
    plannedFor,
    store,
    autos,
    lastsS,
    telescope: imagedTelescope(telescope, flaggedInputs),
    ...directGains(front, product),
  });
  return chain(prepareWholeStations(backend, polarisations), imaging, inNominalUnit(gainRatio));
}

/** Images divided by the requantisation gain, in their own memory. */
const inNominalUnit = (gainRatio: number): Stage<DirectSkyImage, DirectSkyImage> =>
  changing((sky) => {
    brightnessAtNominalGain(sky.image, { gainRatio });
    return sky;
  });

/** What inputs are divided by: their gains, equaliser gains, and the phase of tracking at an image's middle. */
export function directGains(
  front: Front,
  { calibrated, flaggedInputs, rules = [] }: Pick<DirectProduct, 'calibrated' | 'flaggedInputs' | 'rules'>,
): Pick<DirectImageSettings, 'calibrated' | 'gainsAt'> {
  if (calibrated && typeof calibrated !== 'function')
    refuseLeakage(calibrated, 'images.method', 'direct imaging');
  const { source, delays } = front;
  const { frequenciesHz, inputs } = spectraOfFront(front);
  if (rules.some(({ pairs, products }) => pairs !== undefined || products !== undefined))
    refuse(
      'flags',
      'pairs and products of stations cannot be flagged in direct images and beams, which have none',
      'flag inputs, channels and times; or image visibilities',
    );
  const shape = {
    channels: frequenciesHz.length,
    inputs,
    firstChannel: front.range?.firstChannel ?? 0,
  };
  const own = withRules(withOwn(calibrated, front, flaggedInputs, shape), rules, shape);
  if (delays?.towards !== undefined) {
    const { delayModel, tickRateHz } = delays;
    return { gainsAt: trackedGains({ delayModel, tickRateHz, start: source.start, frequenciesHz }, own) };
  }
  return typeof own === 'function' ? { gainsAt: own } : { calibrated: own };
}

interface Shape {
  readonly channels: number;
  readonly inputs: number;
  /** Of the front's range. */
  readonly firstChannel: number;
}

/** With the equaliser gains, and without the inputs that are flagged. */
function withOwn(
  calibrated: Calibrated | CalibratedAt | undefined,
  front: Front,
  flaggedInputs: Uint8Array | undefined,
  shape: Shape,
): Calibrated | CalibratedAt | undefined {
  const { levels } = gainOfFront(front);
  if (!levels && flaggedInputs?.includes(1) !== true) return calibrated;
  const { channels, inputs, firstChannel } = shape;
  const of = (given: Calibrated | undefined): Calibrated => {
    const own = leftOutOf(given, shape, (_, a) => flaggedInputs?.[a] === 1);
    if (!levels) return own;
    const gains = own.gains.map((value, n) => {
      const [c, a] = [Math.floor(n / 2 / inputs), Math.floor(n / 2) % inputs];
      return value * levels.factors[a * levels.channels + firstChannel + c];
    });
    return { ...own, gains: gainsCA(gains, channels, inputs) };
  };
  return typeof calibrated === 'function'
    ? (moment, start) => of(calibratedAt(calibrated, moment, start))
    : of(calibrated);
}

/** Without what is flagged at the middle of an image: an input without a gain adds nothing. */
function withRules(
  calibrated: Calibrated | CalibratedAt | undefined,
  rules: readonly FlagRule[],
  shape: Shape,
): Calibrated | CalibratedAt | undefined {
  if (rules.length === 0) return calibrated;
  return (moment, start) => {
    const now = rules.filter((rule) => isOfTime(rule, moment));
    return leftOutOf(calibrated && calibratedAt(calibrated, moment, start), shape, (c, a) =>
      now.some((rule) => rule.channels?.[shape.firstChannel + c] !== 0 && rule.inputs?.[a] !== 0),
    );
  };
}

/**
 * An image counts a station's polarisations together: where one is missing, the other is left out too. Blocks without
 * such a loss pass unchanged, the others are copied.
 */
export function prepareWholeStations(
  backend: Backend,
  polarisations: 1 | 2,
): Stage<TimedSpectra, TimedSpectra> {
  let own: SpectraBlock | undefined;
  const isWhole = ({ firstInput, endInput }: SpectraGap): boolean =>
    firstInput % polarisations === 0 && endInput % polarisations === 0;
  return {
    push: async (timed, emit) => {
      const { block } = timed;
      if (block.gaps.every(isWhole)) return emit(timed);
      const { type, channels, inputs, capacity } = block.shape;
      const gaps = wholeStations(block.gaps, polarisations);
      const spectra = await block.read();
      zeroGaps(spectra, { type, inputs, samples: block.samples }, gaps);
      own ??= backend.allocateSpectra({ type, channels, inputs, capacity });
      await own.write(spectra, block.samples, gaps);
      return emit({ ...timed, block: own, stays: 0 });
    },
    ...keepsNothing,
    close: () => own?.close() ?? nothingToClose(),
  };
}
