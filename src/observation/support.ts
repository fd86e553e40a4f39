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

/** Fields that `corella run` of a recording does not use: refused, never ignored. */
const notOfRecordings: readonly (Pick<Unsupported, 'field' | 'why' | 'fix'> & {
  readonly given: (observation: Observation) => unknown;
})[] = [
  ...(['visibilities', 'capture', 'listen', 'stream'] as const).map((kind) => ({
    field: `source.${kind}`,
    why: 'observation files are run from recordings of voltages or spectra',
    fix: kind === 'visibilities' ? 'use corella image or calibrate' : 'use corella live',
    given: ({ source }: Observation) => source[kind],
  })),
  ...(['channels', 'interface', 'epoch', 'meta'] as const).map((field) => ({
    ...{ field: `source.${field}`, why: 'is for live data', fix: 'leave it out' },
    given: ({ source }: Observation) => source[field],
  })),
  ...(['start', 'end', 'for'] as const).map((field) => ({
    ...{ field, why: 'is for live data', fix: 'give source.from and source.to of a recording' },
    given: (observation: Observation) => observation[field],
  })),
  ...(['solve', 'every', 'min-baseline', 'element', 'diffuse', 'cross-hand'] as const).map((field) => ({
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
  ...(['file-every', 'beam-corrected', 'element'] as const).map((field) => ({
    field: `products.images.${field}`,
    why: 'images of a run are of apparent brightness, in one file',
    fix: 'leave it out, or use corella image',
    given: (observation: Observation) =>
      some(observation, (one) => isProduct('images', one) && (one[field] ?? false) !== false) || undefined,
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

/** The table of the docs. */
export const supportTable = (): string =>
  [
    '| field | not with | why | instead |',
    '| --- | --- | --- | --- |',
    ...unsupported.map((one) => `| \`${one.field}\` | ${one.with} | ${one.why} | ${one.fix} |`),
    ...notOfRecordings.map((one) => `| \`${one.field}\` | \`corella run\` | ${one.why} | ${one.fix} |`),
    '',
  ].join('\n');

/** Called before the source is opened: what no recording could change. */
export function refuseNotOfRecordings(observation: Observation): void {
  for (const { field, why, fix, given } of notOfRecordings)
    if (given(observation) !== undefined) refuse(field, why, fix);
}

export function refuseUnsupported(observation: Observation, kind: 'voltages' | 'spectra'): void {
  for (const { field, why, fix, applies } of unsupported)
    if (applies(observation, kind)) refuse(field, why, fix);
}
