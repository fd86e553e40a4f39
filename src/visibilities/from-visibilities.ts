/** The visibilities of an observation: opened, flagged, with their telescope and gains. */
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
  chooseIntegration,
  flagFile,
  readStoredFlags,
  type FlagAccount,
  type FlagContext,
  type FlaggedFile,
} from '../stages/index.js';
import { discsOf, inputsOf, readingOptionsOf, rulesOf, type Observation } from '../observation/index.js';
import { isProduct, type ProductItem, type ProductName } from '../products/index.js';
import type { SkyDisc } from '../sky/discs.js';
import { loadTelescope } from '../telescope/load.js';
import type { Telescope } from '../telescope/telescope.js';
import { NO_TELESCOPE } from '../telescope/unplaced.js';
import { reworkVisibilities, type Rework } from './rework.js';
import type { WideSkyImage } from './wide/image.js';
import type { WideProductOptions } from './wide/products.js';

/** Input for planning products. */
export interface FromVisibilities {
  readonly observation: Observation;
  /** As in its file. */
  readonly opened: VisibilityFile;
  /** The whole file, with the requested flags. Products choose times and channels with `partOf`. */
  readonly file: VisibilityFile;
  /** Flags of the latest reading, if any were requested. */
  readonly flagged?: FlaggedFile;
  readonly telescope: Telescope;
  /** Blank in images, and left out of models. */
  readonly discs: readonly SkyDisc[];
  readonly gains?: { readonly path: string; readonly file: GainsFile };
  readonly backend: () => Promise<Backend>;
}

/** Settings for making a product. */
export interface MakingFromVisibilities {
  /** For the product's header; the source's own history comes first. */
  readonly history: readonly string[];
  readonly stage: (title: string) => ProgressStage;
  /** Receives the items of a product without a path. */
  readonly emit?: (item: ItemOfVisibilities) => Promise<void>;
}

/** An item of a product without a path. */
export type ItemOfVisibilities =
  | Extract<ProductItem, { readonly kind: 'visibilities' | 'gains' }>
  | {
      readonly kind: 'wide-images';
      readonly image: WideSkyImage;
      /** The annotations that a file or picture would have. */
      readonly about: WideProductOptions;
    };

/** A checked product. */
export interface PlannedFromVisibilities<Facts extends object = object> {
  readonly name: ProductName;
  /** Files to write. */
  readonly paths: readonly string[];
  /** Unexpected properties. */
  readonly warnings?: readonly Message[];
  /** Makes the product; its files appear when complete. */
  make(making: MakingFromVisibilities): Promise<Facts>;
}

export interface OpenedSource {
  readonly opened: OpenedFile;
  /** Files that were read. */
  readonly paths: readonly string[];
}

/** Opens the source, whatever its kind. */
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

/** Checks that the source is visibilities, flags them, and reads their telescope and gains. */
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
    discs: discsOf(observation.flags ?? {}),
    gains: gains?.file === undefined ? undefined : { path: gains.file, file: await readGainFile(gains.file) },
    backend,
  };
}

/** Removes the file's own flags before adding others. */
const unflagged = ({ flags }: Observation, file: VisibilityFile): VisibilityFile =>
  flags?.unflag === true ? reworkVisibilities(file, { unflag: true }) : file;

/** Default threshold: in pure noise 1.6 samples in a million exceed it. */
const USUAL_SIGMA = 6;

/** Undefined if there is nothing to flag. */
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

/** A flag file identifies stations by name, so names must be unique. */
function refuseNamesakes({ stations }: FlagContext): void {
  const names = stations.map(({ name }) => name);
  const twice = names.find((name, s) => names.indexOf(name) !== s);
  if (twice !== undefined)
    refuse('flags.out', `'${twice}' is the name of several stations`, 'its flags could not be distinguished');
}

/** The named telescope, otherwise the file's own; refused if it does not fit the file's inputs. */
async function telescopeOfVisibilities(opened: VisibilityFile, name: string | undefined): Promise<Telescope> {
  if (name === undefined) return opened.telescope;
  if (name === NO_TELESCOPE)
    return refuse(
      opened.path,
      `states where its stations are (${opened.telescope.name})`,
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

/** The times of source.from and source.to: integrations with their middle in between. */
export function timesOf({ source }: Observation): Pick<Rework, 'from' | 'to'> {
  const [from, to] = (['from', 'to'] as const).map((name) => {
    const text = source[name];
    return text === undefined ? undefined : parseInstant(text, `source.${name}`);
  });
  if (from && to && !(secondsBetween(from, to) > 0))
    refuse('source.to', 'ends before it begins', 'write the earlier time first');
  return { ...(from && { from }), ...(to && { to }) };
}

/** The part used by a product: its channels, the source's times, and its integration if one is chosen. */
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

/** The same with the number of integrations; refused if there are none. */
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

/** The file with only the chosen integration; the whole file if none is chosen. */
export function chosen(
  file: VisibilityFile,
  number: Observation['source']['integration'] = 'sum',
): VisibilityFile {
  if (number === 'sum') return file;
  return {
    ...file,
    durationsS: undefined,
    integrationCount: 1,
    integrations: async function* () {
      yield (await chooseIntegration(file, number)).integration;
    },
  };
}

export const refuseNoTimes = ({ opened, observation: { source } }: FromVisibilities): never =>
  refuse(
    source.from === undefined ? 'source.to' : 'source.from',
    `no integration of ${opened.path} is in that time`,
    'see its times with corella inspect',
  );

/** Account of the flags for a product. */
export const accountOf = ({ flagged }: FromVisibilities): FlagAccount | undefined =>
  flagged && { ...flagged.account };
