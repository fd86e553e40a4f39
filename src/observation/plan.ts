/** From an observation and its source to a plan: checks everything, chooses defaults, opens nothing for writing. */
import type { Backend } from '../backend/backend.js';
import { refuse } from '../core/errors.js';
import { message, type Message } from '../messages/index.js';
import { readGainFile, sampleRateOf, type GainsFile, type Recording } from '../formats/index.js';
import type { KurtosisAccount, KurtosisPlan, KurtosisTally } from '../kurtosis/index.js';
import {
  fitsData,
  gainsInTime,
  lowCentre,
  fittedGains,
  readStoredFlags,
  rulesOfFile,
  type StoredFlags,
  type FlagRule,
  inputsNamed,
  ruleOf,
  type FlagContext,
  type Level,
  type RequestedKurtosis,
} from '../stages/index.js';
import {
  isProduct,
  planProduct,
  type Observed,
  type PlannedProduct,
  type Product,
} from '../products/index.js';
import type { GainsInForce, InForceSettings } from '../products/solve/index.js';
import type { Telescope } from '../telescope/telescope.js';
import { gatherFront, planFront, type GatheredFront, type PlannedFront } from './front-plan.js';
import { angleUnits, readQuantity } from '../fields/index.js';
import { discSources, type SkyDisc } from '../sky/discs.js';
import type { FlagsPart } from './parts/flags.js';
import type { Observation } from './schema.js';
import { refuseUnsupported } from './support.js';

/** Values read and measured before planning. */
interface Gathered {
  readonly front: GatheredFront;
  readonly gains?: GainsFile;
  readonly flags?: StoredFlags;
}

export interface FlaggedByKurtosis {
  readonly plan: KurtosisPlan;
  readonly account: KurtosisAccount;
}

export interface ObservationPlan {
  readonly observation: Observation;
  readonly observed: Observed;
  readonly front: PlannedFront;
  readonly products: readonly PlannedProduct[];
  /** Unexpected properties. */
  readonly warnings: readonly Message[];
  /** What kurtosis flagged, once the run is over. */
  readonly kurtosis: () => FlaggedByKurtosis | undefined;
}

/** Channelised data are independent of the sky: they need neither positions nor a time. */
export const isOfSky = (product: Product): boolean => !isProduct('spectra', product);

/** Reads side files and measures the first samples, unless their level is known. */
export async function gather(
  observation: Observation,
  recording: Recording,
  telescope: Telescope,
  backend: () => Promise<Backend>,
  level?: Level,
): Promise<Gathered> {
  refuseUnsupported(observation, { isLive: false, kind: recording.kind });
  const { front = {}, gains, flags, products } = observation;
  return {
    front: await gatherFront(front, recording, telescope, backend, { ofSky: products.some(isOfSky), level }),
    gains: gains?.file === undefined ? undefined : await readGainFile(gains.file),
    flags: flags?.file === undefined ? undefined : await readStoredFlags(flags.file),
  };
}

/** Checks all settings against each other, and chooses defaults. */
export async function planObservation(
  observation: Observation,
  recording: Recording,
  telescope: Telescope,
  gathered: Gathered,
): Promise<ObservationPlan> {
  const { front: asked = {}, flags = {}, gains } = observation;
  refuseUnsupported(observation, { isLive: false, kind: recording.kind });
  const flaggedInputs = inputsOf(flags, recording, telescope);
  const kept: { readonly plan: KurtosisPlan; readonly tally: KurtosisTally }[] = [];
  const kurtosis = kurtosisOf(flags, (plan, tally) => kept.push({ plan, tally }));
  const front = planFront(asked, recording, telescope, gathered.front, {
    kurtosis,
    flaggedInputs,
    durationS: observation.source.duration,
  });
  const { spectra } = front;
  const { frequenciesHz } = spectra;
  const path = gains?.file ?? '';
  const { stations } = telescope;
  const context = { stations, polarisations: recording.polarisations, frequenciesHz };
  const fitted =
    gathered.gains &&
    fittedGains(gathered.gains, path, telescope, frequenciesHz, {
      who: 'an observation',
      crossHand: gains?.['cross-hand'],
    });
  const unused: Message[] = [];
  const inForce = await inForceOf(gains, {
    channels: spectra.channels,
    inputs: spectra.inputs,
    before: fitted?.calibrated,
    data: 'wait',
    onUnused: (why) => unused.push(message('gains.solution-not-used', { why })),
  });
  const observed: Observed = {
    recording: front.used,
    telescope,
    front: front.front,
    spectra,
    delays: front.delays,
    centre: gathered.front.delays.centre,
    flaggedInputs,
    equaliserIsLost: asked.equaliser === 'measured' && asked['equaliser-out'] === undefined,
    rules: rulesOf(flags, context, gathered.flags),
    discs: discsOf(flags),
    calibrated: inForce?.at ?? fitted?.calibrated,
    crossHands: inForce ? 'unknown' : fitted?.crossHands,
    gainsElement: gathered.gains?.element,
  };
  const products: PlannedProduct[] = [];
  for (const [k, product] of observation.products.entries())
    products.push(await planProduct(product, k === 0 ? { ...observed, solutionsInto: inForce } : observed));
  const usedS = front.used.samples / sampleRateOf(front.used);
  const warnings = [
    ...(gathered.gains ? fitsData(gathered.gains, path, { telescope, frequenciesHz }) : []),
    ...(gathered.gains
      ? gainsInTime(gathered.gains, path, { start: front.used.start, durationS: usedS })
      : []),
    ...(fitted && fitted.channelsWithout > 0
      ? [
          message('gains.channels-without', {
            path,
            without: fitted.channelsWithout,
            of: frequenciesHz.length,
          }),
        ]
      : []),
    ...lowCentre('front.delays.track', observed.centre, telescope.site, {
      start: front.used.start,
      durationS: usedS,
    }),
    ...products.flatMap((product) => product.warnings ?? []),
    ...unflagged(observation),
  ];
  return {
    observation,
    observed,
    front,
    products,
    get warnings() {
      return [...warnings, ...unused];
    },
    kurtosis: () =>
      kept
        .slice(-1)
        .map(({ plan, tally }) => ({ plan, account: tally.account() }))
        .at(0),
  };
}

/** Solved gains, if requested; the first product solves them (solved.ts). */
export async function inForceOf(
  gains: Observation['gains'],
  settings: Omit<InForceSettings, 'lagS'>,
): Promise<GainsInForce | undefined> {
  if (gains?.solve === undefined) return undefined;
  const { GainsInForce: Timeline } = await import('../products/solve/index.js');
  return new Timeline({ ...settings, lagS: gains.lag ?? 0 });
}

/** Channelised data cannot store flags. */
const unflagged = ({ flags = {}, products }: Observation): Message[] =>
  products.every(isOfSky) ||
  [flags.inputs, flags.channels, flags.times, flags.baselines, flags.file].every((one) => one === undefined)
    ? []
    : [message('flags.not-in-spectra')];

export function kurtosisOf(
  flags: FlagsPart,
  onPlan: NonNullable<RequestedKurtosis['onPlan']>,
): RequestedKurtosis | undefined {
  const { kurtosis = false } = flags;
  if (kurtosis === false) return undefined;
  return {
    sigmas: kurtosis === true ? undefined : kurtosis,
    spectraPerWindow: flags['kurtosis-spectra'],
    over: flags['kurtosis-over'],
    bursts: flags['kurtosis-bursts'],
    onPlan,
  };
}

export function inputsOf(
  { inputs = [] }: FlagsPart,
  recording: Pick<Recording, 'polarisations'>,
  telescope: Telescope,
): Uint8Array {
  const count = telescope.stations.length * recording.polarisations;
  const words = inputs.map(String);
  const flags = inputsNamed(words, count, recording.polarisations, telescope.stations, 'flags.inputs');
  if (words.length > 0 && flags.every((flag) => flag === 1))
    refuse('flags.inputs', `${words.join(', ')} leave out every input`, 'keep some');
  return flags;
}

/** NAME@RADIUS; satellites:NAME is NAME. */
export function discsOf({ sky = [] }: Pick<FlagsPart, 'sky'>): readonly SkyDisc[] {
  const discs = sky.map((word): SkyDisc => {
    const [name, radius] = word.split('@').map((part) => part.trim());
    const radiusDeg = readQuantity(radius, angleUnits) ?? Number.NaN;
    if (!(radiusDeg > 0 && radiusDeg <= 90))
      refuse('flags.sky', `${word}: '${radius}' is no radius`, 'give an angle above 0 and up to 90deg');
    return { name: name.replace(/^satellites?:\s*/i, ''), radiusDeg };
  });
  // Unknown names are refused before data are read.
  discSources(discs);
  return discs;
}

export function rulesOf(
  { channels, times = [], baselines }: FlagsPart,
  context: FlagContext,
  file: StoredFlags | undefined,
): readonly FlagRule[] {
  return [
    ...(channels === undefined
      ? []
      : [ruleOf({ channels: channels.map(String).join(',') }, context, 'flags.channels')]),
    ...times.map((span) => ruleOf({ times: span }, context, 'flags.times')),
    ...(baselines === undefined ? [] : [ruleOf({ baselines }, context, 'flags.baselines')]),
    ...(file ? rulesOfFile(file, context) : []),
  ];
}
