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
import {
  readStoredFlags,
  channelsNamed,
  fitsData,
  gainsOverTime,
  phaseLossLines,
  type RequestedVanVleck,
  type VanVleckTally,
  lowCentre,
} from '../stages/index.js';
import { chooseMethod } from './method.js';
import { frontOf, planLiveChannels } from './front.js';
import type { LiveImaging, LiveSettings } from './settings.js';
import { isProduct, plainWeights, type Product } from '../products/index.js';
import { imagedRules } from '../products/making/images.js';
import type { GainsInForce, InForceSettings } from '../products/solve/index.js';
import type { PhaseCentre } from '../sky/phase-centre.js';
import { parsePhaseCentre } from '../sky/phase-centre.js';
import type { Telescope } from '../telescope/telescope.js';
import { productsOf, type LiveProducts } from './resolve.js';

interface Chosen extends Required<Pick<LiveImaging, 'image' | 'chosen'>>, Pick<LiveImaging, 'method'> {
  /** If images leave little time for other work: specific to this machine, so not in the history. */
  readonly slow?: Message;
}

export interface LivePlan {
  readonly observation: Observation;
  readonly products: LiveProducts;
  readonly telescope: Telescope;
  readonly settings: LiveSettings;
  readonly front: Front;
  readonly spectra: FrontSpectra;
  /** Phase centre of visibility files; by default the zenith. */
  readonly centre?: PhaseCentre;
  /** Gains from a file. */
  readonly calibrated?: LiveImaging['calibrated'];
  /** Solved gains, if requested. */
  readonly inForce?: GainsInForce;
  /** Unexpected properties. */
  readonly warnings: readonly Message[];
  /** How each image product is made. */
  readonly methods: ReadonlyMap<object, Chosen>;
  /** Of each stream epoch: what kurtosis flagged, and the account of the van Vleck correction. */
  readonly kurtosis: readonly { readonly plan: KurtosisPlan; readonly tally: KurtosisTally }[];
  readonly vanVleck: readonly Readonly<VanVleckTally>[];
}

interface LiveMachine {
  readonly backend: Backend;
  /** For blocks of voltages: how late an image may be. */
  readonly blockS?: number;
  /** Name of the source in errors. */
  readonly description: string;
  /** Whether data arrive in real time, so that images must keep up, or wait to be read. */
  readonly data: 'arrive' | 'wait';
  /** Integrations without a path are passed to a program. */
  readonly handsOver?: boolean;
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
  { backend, blockS, description, data, handsOver = false, known, solutions }: LiveMachine,
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
  const blanked = { discs, fixedTo: delays.centre ? 'sky' : 'ground' } as const;
  const { visibilities, images } = products;
  const kept =
    visibilities?.channels &&
    channelsNamed(visibilities.channels.join(','), frequenciesHz, 'products.visibilities.channels');
  const vanVleck: Readonly<VanVleckTally>[] = [];
  const corrected: RequestedVanVleck = { onPlan: (tally) => vanVleck.push(tally) };
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
      const { imaging, chosen, slow } = await chooseMethod(asked, imagingOf(one, [], undefined, blanked));
      methods.set(one, { image: imaging.image, method: imaging.method, chosen, slow });
    }
  const place = visibilities?.['phase-centre'];
  const own = place === undefined ? undefined : parsePhaseCentre(place, OWN_CENTRE);
  const atStart = { start: source.start, durationS: Infinity };
  return {
    observation,
    products,
    telescope,
    front,
    spectra,
    kurtosis,
    vanVleck,
    methods,
    calibrated,
    inForce,
    centre: own ?? delays.centre,
    warnings: [
      ...phaseLossLines(phaseLossOf(front)),
      ...(gains?.warnings ?? []),
      ...lowCentre('front.delays.track', delays.centre, telescope.site, atStart),
      ...lowCentre(OWN_CENTRE, own, telescope.site, atStart),
    ],
    settings: {
      ...frontSettings,
      backend,
      channels,
      frequenciesHz,
      discs,
      flags: { rules, channels: kept, tally: { rules: rules.length, ruled: 0, values: 0 } },
      integrationS: visibilities?.integration ?? shownS(images),
      align: (visibilities ?? images)?.align ?? 'utc',
      imaging: images && {
        ...imagingOf(images, imagedRules(images, rules, frequenciesHz), calibrated, blanked),
        ...methods.get(images),
      },
      vanVleck: visibilities?.['van-vleck'] === true ? corrected : undefined,
      values: visibilities?.values ?? 'means',
      integrations: visibilities && (handsOver || visibilities.visibilities !== null) ? 'kept' : 'none',
    },
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

/** Imaging settings of an observation's first image product and of each further one. */
export const imagingOf = (
  images: Product<'images'>,
  rules: LiveImaging['rules'],
  calibrated: LiveImaging['calibrated'],
  blanked?: LiveImaging['image']['blanked'],
): LiveImaging => ({
  everyS: images.every ?? 1,
  by: images.method ?? 'visibilities',
  weight: plainWeights(images),
  calibrated,
  rules,
  autos: images.autos === undefined ? undefined : images.autos ? 'include' : 'leave-out',
  vanVleck: images['van-vleck'] === true ? {} : undefined,
  image: {
    pixels: images.pixels,
    field: images.field === undefined ? { kind: 'all-sky' } : { kind: 'field', widthDeg: images.field },
    kernelSize: images.kernel ?? 5,
    blanked,
  },
});
