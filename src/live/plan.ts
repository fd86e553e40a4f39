/** From a live observation and its source to the chain's plan: as for recordings, without reading ahead. */
import type { Backend } from '../backend/backend.js';
import type { Source } from '../core/sources.js';
import type { Message } from '../messages/index.js';
import { readGainFile, type Recording } from '../formats/index.js';
import type { KurtosisPlan, KurtosisTally } from '../kurtosis/index.js';
import {
  gatherFront,
  inForceOf,
  inputsOf,
  kurtosisOf,
  refuseUnsupported,
  discsOf,
  rulesOf,
  type Observation,
} from '../observation/index.js';
import { phaseLossOf, spectraOfFront, type Front, type FrontSpectra } from '../compose/index.js';
import { readStoredFlags, fitsData, gainsOverTime, lowCentre, phaseLossLines } from '../stages/index.js';
import { chooseMethod } from './method.js';
import { frontOf, planLiveChannels, type FrontSettings } from './front.js';
import type { LiveImaging } from './shown.js';
import { isProduct, plainWeights, type LiveMethod, type Observed, type Product } from '../products/index.js';
import { imageSettingsOf } from '../products/making/images.js';
import type { GainsInForce, InForceSettings } from '../products/solve/index.js';
import { parsePhaseCentre } from '../sky/phase-centre.js';
import type { Telescope } from '../telescope/telescope.js';
import { productsOf } from './resolve.js';

interface Chosen extends LiveMethod {
  /** If images leave little time for other work: specific to this machine, so not in the history. */
  readonly slow?: Message;
}

export interface LivePlan {
  readonly observation: Observation;
  readonly telescope: Telescope;
  /** From samples to spectra, in each stream epoch. */
  readonly frontSettings: FrontSettings;
  readonly front: Front;
  readonly spectra: FrontSpectra;
  /** What all products are planned with, in each stream epoch. */
  readonly observed: Omit<Observed, 'recording' | 'front' | 'spectra' | 'delays'>;
  /** The products that a page shows and that share cuts, by number. */
  readonly shown: Shown;
  /** The length of integrations that are shown, and what they are counted from. */
  readonly integrationS: number;
  readonly align: 'first-sample' | 'utc';
  /** The images that are shown. */
  readonly imaging?: LiveImaging;
  /** Solved gains, if requested. */
  readonly inForce?: GainsInForce;
  /** Unexpected properties. */
  readonly warnings: readonly Message[];
  /** How each image product is made. */
  readonly methods: ReadonlyMap<object, Chosen>;
  /** Of each stream epoch: what kurtosis flagged. */
  readonly kurtosis: readonly { readonly plan: KurtosisPlan; readonly tally: KurtosisTally }[];
}

interface Shown {
  /** -1 for integrations that are made for the page alone. */
  readonly visibilities: number;
  readonly images: number;
}

interface LiveMachine {
  readonly backend: Backend;
  /** For blocks of voltages: how late an image may be. */
  readonly blockS?: number;
  /** Name of the source in errors. */
  readonly description: string;
  /** Whether data arrive in real time, so that images must keep up, or wait to be read. */
  readonly data: 'arrive' | 'wait';
  /** An earlier plan of the same observation: the imaging method is not chosen again for the same channels. */
  readonly known?: LivePlan;
  /** Called for solved gains. */
  readonly solutions?: Pick<InForceSettings, 'onSolution' | 'onUnused'>;
}

const OWN_CENTRE = 'products.visibilities.phase-centre';

/** The source as a recording without an end, for planning. */
export const endless = (source: Source, path: string, telescope: Telescope): Recording =>
  ({ ...source, path, telescope, samples: Infinity }) as unknown as Recording;

export async function planLive(
  observation: Observation,
  source: Source,
  telescope: Telescope,
  { backend, blockS, description, data, known, solutions }: LiveMachine,
): Promise<LivePlan> {
  const { front: part = {}, flags = {}, for: forS } = observation;
  refuseUnsupported(observation, { isLive: true, kind: source.kind });
  const products = productsOf(observation);
  const recording = endless(source, description, telescope);
  const gathered = await gatherFront(part, recording, telescope, () => Promise.resolve(backend), {
    readsAhead: false,
  });
  const { settings, equaliser, delays } = gathered;
  const kurtosis: { readonly plan: KurtosisPlan; readonly tally: KurtosisTally }[] = [];
  const flaggedInputs = inputsOf(flags, source, telescope);
  const frontSettings = {
    telescope,
    delays,
    forS,
    fineChannels: part.finer,
    flaggedInputs,
    kurtosis: kurtosisOf(flags, (plan, tally) => kurtosis.push({ plan, tally })),
    gain: equaliser && { levels: equaliser },
  };
  const channels = settings && planLiveChannels(source, { ...settings, blockS }, frontSettings);
  const front = frontOf(source, { ...frontSettings, channels });
  const spectra = spectraOfFront(front);
  const { frequenciesHz } = spectra;
  const context = { stations: telescope.stations, polarisations: source.polarisations, frequenciesHz };
  const stored = flags.file === undefined ? undefined : await readStoredFlags(flags.file);
  const rules = rulesOf(flags, context, stored);
  const discs = discsOf(flags);
  const { visibilities, images } = products;
  const isCalibrated = images !== undefined || observation.products.some((one) => isProduct('beams', one));
  const gains = isCalibrated ? await gainsFor(observation, telescope, frequenciesHz) : undefined;
  const inForce = await inForceOf(observation.gains, {
    channels: spectra.channels,
    inputs: spectra.inputs,
    before: gains?.calibrated,
    data,
    ...solutions,
  });
  const calibrated = inForce?.at ?? gains?.calibrated;
  const methods = new Map<object, Chosen>();
  for (const one of observation.products)
    if (isProduct('images', one)) {
      const { type, grid } = spectra;
      const asked = { backend, telescope, frequenciesHz, flaggedInputs, type, grid, data };
      const before =
        known && sameValues(known.spectra.frequenciesHz, frequenciesHz) && known.methods.get(one);
      if (before) {
        methods.set(one, before);
        continue;
      }
      const { imaging, chosen, slow } = await chooseMethod(
        asked,
        imagingOf(one, { discs, delays: front.delays }),
      );
      methods.set(one, { image: imaging.image, method: imaging.method, chosen, slow });
    }
  const place = visibilities?.['phase-centre'];
  const own = place === undefined ? undefined : parsePhaseCentre(place, OWN_CENTRE);
  const atStart = { start: source.start, durationS: Infinity };
  const numberOf = (product: Product | undefined): number =>
    observation.products.findIndex((one) => one === product);
  return {
    observation,
    telescope,
    frontSettings: { ...frontSettings, channels },
    front,
    spectra,
    observed: {
      telescope,
      centre: delays.centre,
      flaggedInputs,
      rules,
      discs,
      calibrated,
      equaliserIsLost: false,
    },
    shown: { visibilities: numberOf(visibilities), images: numberOf(images) },
    integrationS: visibilities?.integration ?? shownS(images),
    align: (visibilities ?? images)?.align ?? 'utc',
    imaging: images && {
      ...imagingOf(images, { discs, delays: front.delays }),
      calibrated,
      ...methods.get(images),
    },
    kurtosis,
    methods,
    inForce,
    warnings: [
      ...phaseLossLines(phaseLossOf(front)),
      ...(gains?.warnings ?? []),
      ...lowCentre('front.delays.track', delays.centre, telescope.site, atStart),
      ...lowCentre(OWN_CENTRE, own, telescope.site, atStart),
    ],
  };
}

const sameValues = (x: Float64Array, y: Float64Array): boolean =>
  x.length === y.length && x.every((value, n) => value === y[n]);

/** Integrations that are only shown on the page: about a second, a whole number of images. */
const shownS = (images: Product<'images'> | undefined): number => {
  const everyS = images?.every ?? 1;
  return everyS * Math.max(1, Math.round(1 / everyS));
};

async function gainsFor(
  { gains }: Observation,
  telescope: Telescope,
  frequenciesHz: Float64Array,
): Promise<
  { readonly calibrated: LiveImaging['calibrated']; readonly warnings: readonly Message[] } | undefined
> {
  if (gains?.file === undefined) return undefined;
  const file = await readGainFile(gains.file);
  return {
    calibrated: gainsOverTime(file, gains.file, telescope, frequenciesHz, 'live'),
    warnings: fitsData(file, gains.file, { telescope, frequenciesHz }),
  };
}

/** Images as requested, before a method is chosen. */
export const imagingOf = (
  images: Product<'images'>,
  observed: Pick<Observed, 'discs' | 'delays'>,
): LiveImaging => ({
  everyS: images.every ?? 1,
  by: images.method ?? 'visibilities',
  weight: plainWeights(images),
  autos: images.autos === undefined ? undefined : images.autos ? 'include' : 'leave-out',
  image: imageSettingsOf(images, observed),
});
