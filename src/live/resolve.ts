/** The defaults of a live observation, and refusals that need no data. */
import { refuse } from '../core/errors.js';
import { parseInstant, secondsBetween } from '../core/instant.js';
import {
  checkOutput,
  checkOutputs,
  gainPaths,
  readGainFile,
  recordingPaths,
  refuseWrittenTwice,
  requireInputs,
  visibilityFormatFor,
} from '../formats/index.js';
import {
  checkObservation,
  gatherDelays,
  inputsOf,
  refuseNotLive,
  refuseUnsupported,
  sourceKind,
  withSolvedGains,
  type Observation,
} from '../observation/index.js';
import { isPacketFormatName, packetFormatNamed } from '../packets/registry.js';
import { modelElement } from '../stages/index.js';
import { imagesIn } from './clocks.js';
import type { Change } from './steering.js';
import { beamGrid, beamPath, besideBeams, isProduct, seriesPaths, type Product } from '../products/index.js';
import { present } from '../core/present.js';
import { interfaceOf, planListening } from '../receive/index.js';
import { parseSources } from '../sky/chosen-sources.js';
import { loadTelescope } from '../telescope/load.js';
import { selectStations } from '../telescope/select.js';
import type { Telescope } from '../telescope/telescope.js';
import { listenSettings, parseEpoch } from './packets.js';

/** The products of which there is one on the page: the first of their kind. */
export const productsOf = ({
  products,
}: Observation): {
  readonly visibilities?: Product<'visibilities'>;
  readonly images?: Product<'images'>;
} => ({
  visibilities: products.find((one) => isProduct('visibilities', one)),
  images: products.find((one) => isProduct('images', one)),
});

const USUAL_S = 1;

/** Adds the defaults of live data, so that a product's history includes them. */
export function resolveLive(observation: Observation): Observation {
  const { images } = productsOf(observation);
  const everyS = images && (images.every ?? USUAL_S);
  return withSolvedGains({
    ...observation,
    products: observation.products.map((one) => {
      if (isProduct('visibilities', one))
        return { integration: Math.max(USUAL_S, everyS ?? 0), align: 'utc' as const, ...one };
      if (isProduct('gains', one)) return { integration: USUAL_S, align: 'utc' as const, ...one };
      return isProduct('images', one) ? { every: USUAL_S, align: 'utc' as const, ...one } : one;
    }),
  });
}

/** Whether data arrive in real time. */
export const isRealTime = ({ source }: Observation): boolean =>
  source.listen !== undefined || (source.stream !== undefined && source.start === undefined);

/** Data that are not in real time have a page if one is requested; options for the page alone need one. */
function refuseWithoutPage(observation: Observation): void {
  const { page = {}, gains = {} } = observation;
  const isShown = page.address === undefined ? isRealTime(observation) : page.address !== false;
  if (isShown) return;
  const why =
    page.address === false
      ? 'is for the page, and page.address: false leaves it out'
      : 'is for the page, which a capture or recording has with page.address';
  for (const name of ['names', 'token-file', 'alarm-url'] as const)
    if (page[name] !== undefined) refuse(`page.${name}`, why, 'leave it out');
  if (gains.solve === undefined)
    for (const name of ['min-baseline', 'element', 'diffuse', 'every', 'lag'] as const)
      if (gains[name] !== undefined) refuse(`gains.${name}`, `${why}; or give gains.solve`, 'leave it out');
}

interface Beforehand {
  readonly handsOver?: boolean;
  /** Receives what this machine lacks, and another may have; by default it is refused. */
  readonly onLack?: (what: string) => void;
}

/** Refuses what it can before waiting for data, which may come hours later. */
export async function refuseBeforehand(
  observation: Observation,
  { handsOver = false, onLack }: Beforehand = {},
): Promise<Telescope | undefined> {
  const { source, products, start, end } = observation;
  // A recording used as a stream is not read ahead either.
  refuseNotLive(observation, sourceKind(source) === 'recording' ? 'front.equaliser' : undefined);
  refuseUnsupported(observation, { isLive: true });
  if (source.listen !== undefined) refuseListening(source.listen, source.interface, onLack);
  if (source.format !== undefined && !isPacketFormatName(source.format)) packetFormatNamed(source.format);
  if (source.epoch !== undefined) parseEpoch(source.epoch);
  const { 'noise-gains': noiseGains } = source;
  if (noiseGains !== undefined)
    await checkOutputs({ paths: gainPaths(noiseGains), overwrite: observation.overwrite });
  if (start !== undefined && end !== undefined)
    if (!(secondsBetween(parseInstant(start, 'start'), parseInstant(end, 'end')) > 0))
      refuse('end', `${end} is not after start, ${start}`, 'give a later end');
  refuseWithoutPage(observation);
  if (source.capture !== undefined) await requireInputs(source.capture);
  for (const product of products) await refuseProduct(product, observation, handsOver);
  await refuseWrittenTwice([
    ...(noiseGains === undefined ? [] : gainPaths(noiseGains)),
    ...products.flatMap(outputsOf),
  ]);
  const { visibilities, images } = productsOf(observation);
  if (images) refusePair(visibilities, images);
  return refuseTelescope(observation);
}

function refuseListening(listen: string, by: string | undefined, onLack: Beforehand['onLack']): void {
  const lack = onLack && by !== undefined ? interfaceOf(by).lack : undefined;
  if (lack) onLack?.(`${lack.what}; ${lack.fix ?? ''}`);
  const { group } = planListening(listenSettings(listen, { interface: lack ? undefined : by }));
  if (!group && by !== undefined)
    refuse(
      'source.interface',
      `is by which a group is joined, and ${listen} is none`,
      'leave it out, or listen at the address of that interface, like 10.0.0.2:4015',
    );
}

/** Images and integrations are cut on one grid. */
function refusePair(visibilities: Product<'visibilities'> | undefined, images: Product<'images'>): void {
  if (!visibilities) return;
  if (visibilities.align !== images.align)
    refuse(
      'products.images.align',
      `is ${images.align ?? 'utc'}, and integrations are cut by ${visibilities.align ?? 'utc'}`,
      'give both the same',
    );
  imagesIn(visibilities.integration ?? USUAL_S, images.every ?? USUAL_S);
}

/** Longer integrations would show and write nothing for hours. */
const LONGEST_S = 3600;

/** At the start, and when the length is changed. */
function refuseIntegration({ integration = USUAL_S, 'file-every': everyS }: Product<'visibilities'>): void {
  const where = 'products.visibilities.integration';
  if (integration > LONGEST_S) refuse(where, `${integration} s is longer than an hour`, 'give at most 1h');
  if (everyS !== undefined && everyS < integration * (1 - 1e-9))
    refuse(
      'products.visibilities.file-every',
      `${everyS} s is shorter than an integration of ${integration} s`,
      'give that or more, or a shorter products.visibilities.integration',
    );
}

/** Refuses a change during the run if the changed observation would have been refused. */
export function refuseChange(observation: Observation, change: Change): void {
  if (!('integrationS' in change)) return;
  const { visibilities, images } = productsOf(observation);
  const changed = {
    visibilities: null,
    align: images?.align,
    ...visibilities,
    integration: change.integrationS,
  };
  checkObservation({ ...observation, products: [changed] });
  refuseIntegration(changed);
  if (images) refusePair(changed, images);
}

/** Files of a product, of beams those at the start; without the dates that names of later files have. */
function outputsOf(product: Product): readonly string[] {
  if (isProduct('gains', product))
    return product.gains === null ? [] : present(...gainPaths(product.gains), product['delays-out']);
  if (isProduct('visibilities', product)) return present(product.visibilities ?? undefined);
  if (isProduct('spectra', product)) return product.spectra === null ? [] : recordingPaths(product.spectra);
  if (isProduct('images', product)) {
    const { images: path, picture = false, sheet = false } = product;
    if (path === null) return [];
    if (/\.png$/i.test(path)) return [path];
    const paths = seriesPaths(path, { picture, sheet });
    return present(paths.fits, paths.png, paths.sheet);
  }
  const { beams: path, towards = [''] } = product;
  if (path === null) return [];
  const beams = product.sum === 'incoherent' ? 1 : beamGrid(product, towards.length).beams;
  const { counts, description } = besideBeams(path);
  return [...Array.from({ length: beams }, (_, b) => beamPath(path, b + 1, beams)), counts, description];
}

export async function refuseProduct(
  product: Product,
  observation: Observation,
  handsOver: boolean,
): Promise<void> {
  const { overwrite, gains, source } = observation;
  const from = [source.capture ?? source.recording ?? []].flat().join() || undefined;
  if (isProduct('gains', product)) {
    const { gains: path } = product;
    if (path !== null) await checkOutputs({ paths: outputsOf(product), from, overwrite });
    else if (!handsOver && gains?.solve === undefined)
      refuse('products.gains', 'has no path', 'name a .json');
  }
  if (isProduct('visibilities', product)) {
    const { visibilities: path, values } = product;
    refuseIntegration(product);
    if (path === null) return;
    visibilityFormatFor(path, { values: values ?? 'means', appears: 'first-integration' });
    await checkOutputs({ paths: [path], from, overwrite });
  }
  if (isProduct('spectra', product)) {
    if (product.spectra !== null) await checkOutputs({ paths: outputsOf(product), from, overwrite });
    else if (!handsOver) refuse('products.spectra', 'has no path', 'name a .sigmf-meta');
  }
  if (isProduct('beams', product)) {
    if (product.beams !== null) await checkOutputs({ paths: outputsOf(product), from, overwrite });
    else if (!handsOver) refuse('products.beams', 'has no path', 'name a .fil');
    if (gains?.file !== undefined) await readGainFile(gains.file);
  }
  if (isProduct('images', product)) {
    const { images: path, sources = 'all' } = product;
    if (sources.includes('@'))
      refuse(
        'products.images.sources',
        'places by altitude and azimuth move with the sky',
        'give RA and Dec',
      );
    parseSources(sources);
    if (path !== null && !/\.(png|fits?)$/i.test(path))
      refuse('products.images', `'${path}' does not end in .png or .fits`, 'name one of them');
    if (path !== null && /\.png$/i.test(path)) await checkOutput(path);
    else await checkOutputs({ paths: outputsOf(product), from, overwrite });
    if (gains?.file !== undefined) await readGainFile(gains.file);
  }
}

/** The named telescope, reduced to the chosen stations. */
async function refuseTelescope(observation: Observation): Promise<Telescope | undefined> {
  const { telescope: name, stations, source, flags = {}, front } = observation;
  if (name === undefined) {
    if (source.capture !== undefined || source.listen !== undefined)
      refuse(
        'telescope',
        'is missing: packets do not state where stations are',
        'name the telescope, or a JSON description of it',
      );
    return undefined;
  }
  const whole = await loadTelescope(name, source.polarisations);
  const telescope = stations === undefined ? whole : selectStations(whole, stations);
  inputsOf(flags, telescope, telescope);
  await gatherDelays(front?.delays ?? {}, telescope);
  if (observation.gains?.element !== undefined) modelElement(observation.gains.element, telescope);
  return telescope;
}
