/**
 * Combinations that cannot be done, in one table: refusals and the support matrix in the docs are made of it. A reason
 * says why it cannot be, and what to do instead.
 */
import { refuse } from '../core/errors.js';
import { isProduct, type Product } from '../products/index.js';
import type { Observation } from './schema.js';

export interface Unsupported {
  /** The field that is refused. */
  readonly field: string;
  /** For the table: with what. */
  readonly with: string;
  readonly why: string;
  readonly fix: string;
  readonly applies: (observation: Observation, kind: 'voltages' | 'spectra') => boolean;
}

const some = ({ products }: Observation, is: (product: Product) => boolean): boolean => products.some(is);
const isDirect = (product: Product): boolean => isProduct('images', product) && product.method === 'direct';

export const unsupported: readonly Unsupported[] = [
  {
    ...{ field: 'front.finer', with: 'front.delays' },
    why: 'finer channels are made of channels that were sampled without delays',
    fix: 'correlate the channels as they are, or leave the delays out',
    applies: ({ front }) => front?.finer !== undefined && front.delays !== undefined,
  },
  {
    ...{ field: 'machine.cards', with: 'images (direct), spectra' },
    why: 'several cards share the channels of a correlation alone',
    fix: 'name one card',
    applies: (observation) =>
      (observation.machine?.cards?.length ?? 0) > 1 &&
      some(observation, (product) => isDirect(product) || isProduct('spectra', product)),
  },
  {
    ...{ field: 'products.spectra', with: 'front.delays.track' },
    why: 'tracked spectra have their phases rotated, which their file cannot say',
    fix: 'leave the tracking out, or write visibilities',
    applies: (observation) =>
      observation.front?.delays?.track !== undefined && some(observation, (one) => isProduct('spectra', one)),
  },
  {
    ...{ field: 'flags.baselines', with: 'images (direct)' },
    why: 'direct images have no visibilities, and so no pairs of stations to flag',
    fix: 'flag inputs, channels and times, or image visibilities',
    applies: (observation) => observation.flags?.baselines !== undefined && some(observation, isDirect),
  },
  {
    ...{ field: 'products.visibilities.van-vleck', with: 'values: sums' },
    why: 'sums are whole numbers as they were summed',
    fix: 'take means, or leave van-vleck out',
    applies: (observation) =>
      some(
        observation,
        (one) => isProduct('visibilities', one) && one.values === 'sums' && one['van-vleck'] === true,
      ),
  },
  {
    ...{ field: 'products.images.van-vleck', with: 'images (direct)' },
    why: 'direct images are made of the samples as they were rounded',
    fix: 'leave it out, or image visibilities',
    applies: (observation) =>
      some(observation, (one) => isDirect(one) && 'van-vleck' in one && one['van-vleck'] === true),
  },
  {
    ...{ field: 'gains.file', with: 'products without images' },
    why: 'gains calibrate images, and none are made',
    fix: 'leave the gains out, or ask for images',
    applies: (observation) =>
      observation.gains?.file !== undefined && !some(observation, (one) => isProduct('images', one)),
  },
  {
    ...{ field: 'products.images.weights', with: 'images (direct)' },
    why: 'direct images weight every visibility alike',
    fix: 'leave the weights out, or image visibilities',
    applies: (observation) =>
      some(observation, (one) => isDirect(one) && 'weights' in one && one.weights === 'uniform'),
  },
  {
    ...{ field: 'products.visibilities.values', with: 'front.delays.track' },
    why: 'sums are whole numbers, and tracked data are unphased afterwards',
    fix: 'take means, or do not track',
    applies: (observation) =>
      observation.front?.delays?.track !== undefined &&
      some(observation, (one) => isProduct('visibilities', one) && one.values === 'sums'),
  },
];

/** A field that is refused, never ignored. */
type NotUsed = Pick<Unsupported, 'field' | 'why' | 'fix'> & {
  readonly given: (observation: Observation) => unknown;
};

/** Fields that a run of a recording does not use. */
const notOfRecordings: readonly NotUsed[] = [
  {
    field: 'source.visibilities',
    why: 'observation files are run from recordings of voltages or spectra, and from live data',
    fix: 'use corella image or calibrate',
    given: ({ source }) => source.visibilities,
  },
  ...(['channels', 'interface', 'epoch', 'meta'] as const).map((field) => ({
    ...{ field: `source.${field}`, why: 'is for live data', fix: 'leave it out' },
    given: ({ source }: Observation) => source[field],
  })),
  ...(['start', 'end', 'for'] as const).map((field) => ({
    ...{ field, why: 'is for live data', fix: 'give source.from and source.to of a recording' },
    given: (observation: Observation) => observation[field],
  })),
  ...(['solve', 'every', 'min-baseline', 'element', 'diffuse'] as const).map((field) => ({
    ...{ field: `gains.${field}`, why: 'gains are not solved in a run of a recording' },
    fix: 'write visibilities, run corella calibrate, and give the gains as gains.file',
    given: ({ gains }: Observation) => gains?.[field],
  })),
  {
    ...{ field: 'machine.self-check', why: 'is for live data', fix: 'leave it out' },
    given: ({ machine }) => machine?.['self-check'],
  },
  {
    ...{ field: 'products.visibilities.file-every', why: 'a recording makes one file', fix: 'leave it out' },
    given: (observation) =>
      some(observation, (one) => isProduct('visibilities', one) && one['file-every'] !== undefined) ||
      undefined,
  },
  {
    ...{ field: 'products.images.file-every', why: 'a recording makes one file', fix: 'leave it out' },
    given: (observation) =>
      some(observation, (one) => isProduct('images', one) && one['file-every'] !== undefined) || undefined,
  },
  ...(['beam-corrected', 'element'] as const).map((field) => ({
    field: `products.images.${field}`,
    why: 'images from visibilities in a run are of apparent brightness',
    fix: 'leave it out, image directly, or write visibilities and use corella image',
    given: (observation: Observation) =>
      some(
        observation,
        (one) => isProduct('images', one) && !isDirect(one) && (one[field] ?? false) !== false,
      ) || undefined,
  })),
  {
    ...{
      field: 'products.images.cube',
      why: 'a series averages its channels',
      fix: 'leave out every, or cube',
    },
    given: (observation) =>
      some(observation, (one) => isProduct('images', one) && one.cube === true && one.every !== undefined) ||
      undefined,
  },
];

const someOf =
  <Name extends 'visibilities' | 'images'>(name: Name, is: (product: Product<Name>) => boolean) =>
  (observation: Observation): true | undefined =>
    some(observation, (one) => isProduct(name, one) && is(one)) || undefined;

/** Fields that a live run does not use: packets, streams, captures. */
const notLive: readonly NotUsed[] = [
  ...(['from', 'to', 'duration'] as const).map((field) => ({
    ...{ field: `source.${field}`, why: 'is for recordings', fix: 'give start, end or for' },
    given: ({ source }: Observation) => source[field],
  })),
  ...(
    [
      ...(['sample-bits', 'skip', 'near', 'tuning', 'metafits', 'remove-cables', 'sideband'] as const),
      ...(['stored-pair', 'seconds-of', 'column', 'target'] as const),
    ] as const
  ).map((field) => ({
    ...{ field: `source.${field}`, why: 'is for files', fix: 'leave it out' },
    given: ({ source }: Observation) => source[field],
  })),
  ...(['sample-type', 'inputs', 'start', 'meta'] as const).map((field) => ({
    field: `source.${field}`,
    ...{ why: 'is for streams of plain samples; packets say it themselves', fix: 'leave it out' },
    given: ({ source }: Observation) => (source.stream === undefined ? source[field] : undefined),
  })),
  ...(['format', 'epoch'] as const).map((field) => ({
    ...{ field: `source.${field}`, why: 'is for packets', fix: 'leave it out' },
    given: ({ source }: Observation) => (source.stream === undefined ? undefined : source[field]),
  })),
  {
    ...{ field: 'source.interface', why: 'is by which a group is joined, with source.listen' },
    fix: 'leave it out',
    given: ({ source }) => (source.listen === undefined ? source.interface : undefined),
  },
  {
    ...{ field: 'front.float-taps', why: 'live 8-bit samples are filtered with taps of 16 bits' },
    fix: 'leave it out, or record and correlate the recording',
    given: ({ front }) => front?.['float-taps'] === true || undefined,
  },
  {
    ...{ field: 'front.equaliser-out', why: 'live equaliser gains come from a file' },
    fix: 'leave it out; a run of a recording measures and writes them',
    given: ({ front }) => front?.['equaliser-out'],
  },
  {
    ...{ field: 'gains.cross-hand', why: 'live images show the total intensity', fix: 'leave it out' },
    given: ({ gains }) => gains?.['cross-hand'],
  },
  {
    ...{ field: 'machine.cards', why: 'live data go to one card', fix: 'name one card' },
    given: ({ machine }) => ((machine?.cards?.length ?? 0) > 1 ? true : undefined),
  },
  {
    ...{ field: 'products.images.cube', why: 'a series averages its channels', fix: 'leave it out' },
    given: someOf('images', ({ cube }) => cube === true),
  },
  ...(['beam-corrected', 'element'] as const).map((field) => ({
    field: `products.images.${field}`,
    why: 'live images are of apparent brightness',
    fix: 'leave it out, or write visibilities and use corella image',
    given: someOf('images', (one) => (one[field] ?? false) !== false),
  })),
  {
    ...{ field: 'products.images.feeds', why: 'live images show the total intensity', fix: 'leave it out' },
    given: someOf('images', ({ feeds }) => feeds !== undefined),
  },
  {
    ...{ field: 'products.images.file-every', why: 'is for .fits', fix: 'leave it out, or name a .fits' },
    given: someOf('images', (one) => one['file-every'] !== undefined && !isFits(one.images)),
  },
  {
    ...{ field: 'products.images.sheet', why: 'is for .fits', fix: 'leave it out, or name a .fits' },
    given: someOf('images', ({ sheet, images }) => sheet === true && !isFits(images)),
  },
];

const isFits = (path: string | null): boolean => /\.fits?$/i.test(path ?? '');

/** The table of the docs. */
export const supportTable = (): string =>
  [
    '| field | not with | why | instead |',
    '| --- | --- | --- | --- |',
    ...unsupported.map((one) => `| \`${one.field}\` | ${one.with} | ${one.why} | ${one.fix} |`),
    ...notOfRecordings.map((one) => `| \`${one.field}\` | recordings | ${one.why} | ${one.fix} |`),
    ...notLive.map((one) => `| \`${one.field}\` | live data | ${one.why} | ${one.fix} |`),
    '',
  ].join('\n');

/** Called before the source is opened: what no recording could change. */
export function refuseNotOfRecordings(observation: Observation): void {
  for (const { field, why, fix, given } of notOfRecordings)
    if (given(observation) !== undefined) refuse(field, why, fix);
}

/** Called before anything is waited for: what live data could not change. */
export function refuseNotLive(observation: Observation): void {
  for (const { field, why, fix, given } of notLive)
    if (given(observation) !== undefined) refuse(field, why, fix);
}

export function refuseUnsupported(observation: Observation, kind: 'voltages' | 'spectra'): void {
  for (const { field, why, fix, applies } of unsupported)
    if (applies(observation, kind)) refuse(field, why, fix);
}
