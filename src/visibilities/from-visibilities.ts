/** The visibilities of an observation: opened, flagged, with the telescope and the gains that belong to them. */
import type { Backend } from '../backend/backend.js';
import { refuse } from '../core/errors.js';
import { addSeconds, parseInstant, secondsBetween } from '../core/instant.js';
import type { ProgressStage } from '../core/progress.js';
import type { Message } from '../messages/index.js';
import {
  notingFiles,
  openFile,
  readGainFile,
  type GainsFile,
  type OpenedFile,
  type VisibilityFile,
} from '../formats/index.js';
import {
  channelsNamed,
  flagFile,
  readStoredFlags,
  type FlagAccount,
  type FlagContext,
  type FlaggedFile,
} from '../stages/index.js';
import { inputsOf, readingOptionsOf, rulesOf, type Observation } from '../observation/index.js';
import { isProduct, type ProductItem, type ProductName } from '../products/index.js';
import { loadTelescope } from '../telescope/load.js';
import type { Telescope } from '../telescope/telescope.js';
import { NO_TELESCOPE } from '../telescope/unplaced.js';
import { reworkVisibilities, type Rework } from './rework.js';
import type { WideSkyImage } from './wide/image.js';
import type { WideProductOptions } from './wide/products.js';

/** What products are planned from. */
export interface FromVisibilities {
  readonly observation: Observation;
  /** As it is in its file. */
  readonly opened: VisibilityFile;
  /** All of it, with what is asked for flagged. Products choose times and channels with `partOf`. */
  readonly file: VisibilityFile;
  /** What was flagged in the latest reading, where anything is asked for. */
  readonly flagged?: FlaggedFile;
  readonly telescope: Telescope;
  readonly gains?: { readonly path: string; readonly file: GainsFile };
  readonly backend: () => Promise<Backend>;
}

/** How a product is made. */
export interface MakingFromVisibilities {
  /** For the product's header; what the source itself says of its making comes first. */
  readonly history: readonly string[];
  readonly stage: (title: string) => ProgressStage;
  /** Takes the items of a product without a path, which are written nowhere. */
  readonly emit?: (item: ItemOfVisibilities) => Promise<void>;
}

/** An item of a product without a path. */
export type ItemOfVisibilities =
  | Extract<ProductItem, { readonly kind: 'visibilities' | 'gains' }>
  | {
      readonly kind: 'wide-images';
      readonly image: WideSkyImage;
      /** What a file or a picture of it would say. */
      readonly about: WideProductOptions;
    };

/** A product that was checked. */
export interface PlannedFromVisibilities<Facts extends object = object> {
  readonly name: ProductName;
  /** Files that it writes. */
  readonly paths: readonly string[];
  /** What is not as one would expect. */
  readonly warnings?: readonly Message[];
  /** Makes it; it appears when it is complete. */
  make(making: MakingFromVisibilities): Promise<Facts>;
}

export interface OpenedSource {
  readonly opened: OpenedFile;
  /** Files that were read. */
  readonly paths: readonly string[];
}

/** The source, whatever it holds. */
export async function openSource({ source, telescope }: Observation): Promise<OpenedSource> {
  const path = [source.visibilities ?? []].flat().join(',');
  if (path === '') refuse('source', 'names no visibilities', 'give source.visibilities');
  const options = await readingOptionsOf(source, telescope);
  return notingFiles(() => openFile(path, options));
}

const kindTitles = {
  voltages: 'a recording of voltages',
  spectra: 'channelised data',
} as const;

/** Checks that it is visibilities, flags them, and reads what belongs to them. */
export async function gatherVisibilities(
  observation: Observation,
  { opened }: OpenedSource,
  backend: () => Promise<Backend>,
): Promise<FromVisibilities> {
  if (opened.kind !== 'visibilities')
    return refuse(
      opened.path,
      `holds ${kindTitles[opened.kind]}, not visibilities`,
      'correlate it first, or image it directly (corella image --direct)',
    );
  const { gains, products } = observation;
  const isCopied = products.every((one) => isProduct('visibilities', one) && one.calibrated !== true);
  const flagged = await flaggedOf(observation, opened);
  return {
    observation,
    opened,
    file: flagged?.file ?? unflagged(observation, opened),
    flagged,
    telescope: isCopied ? opened.telescope : await telescopeOfVisibilities(opened, observation.telescope),
    gains: gains?.file === undefined ? undefined : { path: gains.file, file: await readGainFile(gains.file) },
    backend,
  };
}

/** The file's own flags are taken out before others are put in. */
const unflagged = ({ flags }: Observation, file: VisibilityFile): VisibilityFile =>
  flags?.unflag === true ? reworkVisibilities(file, { unflag: true }) : file;

/** Used where no threshold is given: of noise alone 1.6 samples in a million are above it. */
const USUAL_SIGMA = 6;

/** Nothing where nothing is to be flagged. */
async function flaggedOf(observation: Observation, opened: VisibilityFile): Promise<FlaggedFile | undefined> {
  const { flags = {} } = observation;
  const { interference = false, out } = flags;
  const { telescope, polarisations, frequenciesHz, feeds } = opened.header;
  const context: FlagContext = { stations: telescope.stations, polarisations, frequenciesHz, feeds };
  if (out !== undefined) refuseNamesakes(context);
  const inputs = flags.inputs === undefined ? [] : [{ inputs: inputsOf(flags, opened.header, telescope) }];
  const stored = flags.file === undefined ? undefined : await readStoredFlags(flags.file);
  const rules = [...inputs, ...rulesOf(flags, context, stored)];
  if (rules.length === 0 && interference === false) return undefined;
  return flagFile(unflagged(observation, opened), {
    rules,
    ...(interference !== false && {
      interference: {
        sigma: interference === true ? USUAL_SIGMA : interference,
        bursts: flags['keep-bursts'] === true ? ('keep' as const) : ('take' as const),
      },
    }),
    ...(out !== undefined && { masks: 'keep' as const }),
  });
}

/** A file of flags goes by names. */
function refuseNamesakes({ stations }: FlagContext): void {
  const names = stations.map(({ name }) => name);
  const twice = names.find((name, s) => names.indexOf(name) !== s);
  if (twice !== undefined)
    refuse('flags.out', `'${twice}' is the name of several stations`, 'its flags would not tell them apart');
}

/** The telescope that is named, else the file's own; one that does not fit the file's inputs is refused. */
async function telescopeOfVisibilities(opened: VisibilityFile, name: string | undefined): Promise<Telescope> {
  if (name === undefined) return opened.telescope;
  if (name === NO_TELESCOPE)
    return refuse(
      opened.path,
      `says itself where its stations are (${opened.telescope.name})`,
      `leave out telescope: ${NO_TELESCOPE}`,
    );
  const { polarisations } = opened.header;
  const telescope = await loadTelescope(name, polarisations);
  const stations = opened.telescope.stations.length;
  if (stations !== telescope.stations.length || polarisations !== telescope.polarisations)
    refuse(
      opened.path,
      `has ${stations * polarisations} inputs, ${stations} × ${polarisations}, where ${telescope.name} has ${telescope.stations.length} stations × ${telescope.polarisations}`,
      'name the telescope that made it with telescope: NAME',
    );
  return telescope;
}

/** The times of source.from and source.to: integrations whose middle is between them. */
export function timesOf({ source }: Observation): Pick<Rework, 'from' | 'to'> {
  const [from, to] = (['from', 'to'] as const).map((name) => {
    const text = source[name];
    return text === undefined ? undefined : parseInstant(text, `source.${name}`);
  });
  if (from && to && !(secondsBetween(from, to) > 0))
    refuse('source.to', 'ends before it begins', 'write the earlier time first');
  return { ...(from && { from }), ...(to && { to }) };
}

/** What a product uses: its channels, the source's times, and its one integration where that is chosen. */
function partOf(
  from: FromVisibilities,
  channels: readonly string[] | undefined,
  field: string,
): VisibilityFile {
  const work: Rework = {
    ...timesOf(from.observation),
    ...(channels && { channels: channelsNamed(channels.join(','), from.opened.header.frequenciesHz, field) }),
  };
  return Object.keys(work).length === 0 ? from.file : reworkVisibilities(from.file, work);
}

/** The same with the number of its integrations known: where there is none, it is refused. */
export async function countedPartOf(
  from: FromVisibilities,
  channels: readonly string[] | undefined,
  field: string,
): Promise<VisibilityFile> {
  const part = partOf(from, channels, field);
  const { from: first, to } = timesOf(from.observation);
  if (!first && !to) return part;
  let integrationCount = 0;
  for await (const { start, durationS } of from.opened.integrations('reused')) {
    const middle = addSeconds(start, durationS / 2);
    if ((first && secondsBetween(first, middle) < 0) || (to && secondsBetween(to, middle) >= 0)) continue;
    integrationCount++;
  }
  if (integrationCount === 0) refuseNoTimes(from);
  return { ...part, integrationCount };
}

export const refuseNoTimes = ({ opened, observation: { source } }: FromVisibilities): never =>
  refuse(
    source.from === undefined ? 'source.to' : 'source.from',
    `no integration of ${opened.path} is in that time`,
    'see its times with corella inspect',
  );

/** What was flagged on the way to a product. */
export const accountOf = ({ flagged }: FromVisibilities): FlagAccount | undefined =>
  flagged && { ...flagged.account };
