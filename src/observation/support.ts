/**
 * Unsupported combinations, in one table: it generates the refusals and the support matrix in the docs. Each entry
 * gives a reason and an alternative.
 */
import { refuse } from '../core/errors.js';
import { fieldsOf, valueAt } from '../fields/index.js';
import { isProduct, productFields, productNames, type Product } from '../products/index.js';
import { observation as schema, type Observation } from './schema.js';

interface Unsupported {
  /** The field to refuse. */
  readonly field: string;
  /** For the table: the other half of the combination. */
  readonly with: string;
  readonly why: string;
  readonly fix: string;
  readonly applies: (observation: Observation, about: AboutSource) => boolean;
}

interface AboutSource {
  readonly isLive: boolean;
  /** Contents of the source; unknown until it is opened. */
  readonly kind?: 'voltages' | 'spectra' | 'visibilities';
}

const some = ({ products }: Observation, is: (product: Product) => boolean): boolean => products.some(is);
const isDirect = (product: Product): boolean => isProduct('images', product) && product.method === 'direct';
const isSums = (product: Product): boolean => isProduct('visibilities', product) && product.values === 'sums';
const isCalibrated = (product: Product): boolean =>
  isProduct('visibilities', product) && product.calibrated === true;
const isGiven = (part: object | undefined, name: string): boolean => {
  const value = (part as Readonly<Record<string, unknown>> | undefined)?.[name];
  return value !== undefined && value !== false;
};

/** Fields of the front end for voltages only; those of the filter and the rounding also apply to finer channels. */
const OF_VOLTAGES = ['channels', 'float-taps', 'equaliser', 'equaliser-out'] as const;
const OF_CHANNELISERS = ['filter', 'taps', 'window', 'passband', 'coefficients', 'bits', 'gain'] as const;
const leaveOut = 'leave it out; front.finer channelises it further';

const unsupported: readonly Unsupported[] = [
  {
    field: 'front.finer',
    with: 'voltages',
    why: 'is for channelised data, and voltages have no channels yet',
    fix: 'give their number with front.channels',
    applies: ({ front }, { kind }) => kind === 'voltages' && front?.finer !== undefined,
  },
  ...OF_VOLTAGES.map((name): Unsupported => ({
    field: `front.${name}`,
    with: 'channelised data',
    why: 'is for voltages, and the data are channelised already',
    fix: leaveOut,
    applies: ({ front }, { kind }) => kind === 'spectra' && isGiven(front, name),
  })),
  ...OF_CHANNELISERS.map((name): Unsupported => ({
    field: `front.${name}`,
    with: 'channelised data, unless front.finer is given',
    why: 'is for voltages, and the data are channelised already',
    fix: leaveOut,
    applies: ({ front }, { kind }) =>
      kind === 'spectra' && front?.finer === undefined && isGiven(front, name),
  })),
  ...(['window', 'passband', 'coefficients'] as const).map((name): Unsupported => ({
    field: `front.${name}`,
    with: 'front.filter',
    why: 'front.filter defines the filter',
    fix: 'leave one of them out; front.taps may go with both',
    applies: ({ front }) => front?.filter !== undefined && front[name] !== undefined,
  })),
  ...(['window', 'passband'] as const).map((name): Unsupported => ({
    field: `front.${name}`,
    with: 'front.coefficients',
    why: 'coefficients are the whole filter, used as they are',
    fix: 'leave one of them out',
    applies: ({ front }) => front?.coefficients !== undefined && front[name] !== undefined,
  })),
  {
    field: 'front.equaliser',
    with: 'front.gain',
    why: 'front.gain is one gain for all',
    fix: 'leave one of the two out',
    applies: ({ front }) => front?.equaliser !== undefined && front.gain !== undefined,
  },
  {
    field: 'front.equaliser',
    with: 'front.bits: float',
    why: 'channels of floats are not rounded',
    fix: 'give front.bits 8 or 4, or leave the equaliser out',
    applies: ({ front }) => front?.equaliser !== undefined && front.bits === 'float',
  },
  {
    field: 'front.equaliser-out',
    with: 'front.equaliser left out',
    why: 'no equaliser gains are asked for',
    fix: 'give front.equaliser: measured too',
    applies: ({ front }) => front?.['equaliser-out'] !== undefined && front.equaliser === undefined,
  },
  ...(['kurtosis-spectra', 'kurtosis-over', 'kurtosis-bursts'] as const).map((name): Unsupported => ({
    field: `flags.${name}`,
    with: 'flags.kurtosis left out',
    why: 'kurtosis is not asked for',
    fix: 'give flags.kurtosis too',
    applies: ({ flags }) => !isGiven(flags, 'kurtosis') && flags?.[name] !== undefined,
  })),
  {
    field: 'front.finer',
    with: 'front.delays',
    why: 'finer channels are made of channels that were sampled without delays',
    fix: 'correlate the channels as they are, or leave the delays out',
    applies: ({ front }) => front?.finer !== undefined && front.delays !== undefined,
  },
  {
    field: 'machine.cards',
    with: 'images (direct), beams, spectra',
    why: 'several cards share the channels of a correlation alone',
    fix: 'name one card',
    applies: (observation) =>
      (observation.machine?.cards?.length ?? 0) > 1 &&
      some(
        observation,
        (product) => isDirect(product) || isProduct('beams', product) || isProduct('spectra', product),
      ),
  },
  {
    field: 'products.spectra',
    with: 'recordings of channelised data, as they are',
    why: 'the recording is channelised already, and would only be copied',
    fix: 'make finer channels of it with front.finer, or copy it with corella convert',
    applies: (observation, { kind, isLive }) =>
      kind === 'spectra' &&
      !isLive &&
      observation.front?.finer === undefined &&
      observation.front?.delays === undefined &&
      !isGiven(observation.flags, 'kurtosis') &&
      some(observation, (one) => isProduct('spectra', one)),
  },
  {
    field: 'products.spectra',
    with: 'front.delays.track',
    why: 'tracked spectra have their phases rotated, which their file cannot state',
    fix: 'leave the tracking out, or write visibilities',
    applies: (observation) =>
      observation.front?.delays?.track !== undefined && some(observation, (one) => isProduct('spectra', one)),
  },
  {
    field: 'flags.baselines',
    with: 'images (direct), beams',
    why: 'direct images and beams have no visibilities, and so no pairs of stations to flag',
    fix: 'flag inputs, channels and times, or image visibilities',
    applies: (observation) =>
      observation.flags?.baselines !== undefined &&
      some(observation, (one) => isDirect(one) || isProduct('beams', one)),
  },
  {
    field: 'flags.sky',
    with: 'no images and no gains that are solved',
    why: 'is for images and for models of the sky',
    fix: 'leave it out; give it where the data are imaged or calibrated',
    applies: (observation) =>
      observation.flags?.sky !== undefined &&
      observation.gains?.solve === undefined &&
      !some(observation, (one) => isProduct('images', one) || isProduct('gains', one)),
  },
  {
    field: 'products.visibilities.van-vleck',
    with: 'values: sums',
    why: 'sums are whole numbers as they were summed',
    fix: 'take means, or leave van-vleck out',
    applies: (observation) => some(observation, (one) => isSums(one) && isGiven(one, 'van-vleck')),
  },
  {
    field: 'products.images.van-vleck',
    with: 'images (direct)',
    why: 'direct images are made of the samples as they were rounded',
    fix: 'leave it out, or image visibilities',
    applies: (observation) =>
      some(observation, (one) => isDirect(one) && 'van-vleck' in one && one['van-vleck'] === true),
  },
  ...(['visibilities', 'images', 'gains'] as const).map((name): Unsupported => ({
    field: `products.${name}.van-vleck`,
    with: 'front.bits: float',
    why: 'channels of floats are not rounded',
    fix: 'leave the correction out, or take 8 or 4 bits',
    applies: (observation) =>
      observation.front?.bits === 'float' &&
      some(observation, (one) => isProduct(name, one) && isGiven(one, 'van-vleck')),
  })),
  ...(['visibilities', 'images', 'gains'] as const).map((name): Unsupported => ({
    field: `products.${name}.van-vleck`,
    with: 'front.delays, of channelised data',
    why: 'delayed channels are floats: their phases are rotated',
    fix: 'leave the correction or the delays out',
    applies: (observation, { kind }) =>
      kind === 'spectra' &&
      observation.front?.delays !== undefined &&
      some(observation, (one) => isProduct(name, one) && isGiven(one, 'van-vleck')),
  })),
  {
    field: 'products.visibilities.values',
    with: 'front.delays, of channelised data',
    why: 'sums are whole numbers, and delayed channels are floats: their phases are rotated',
    fix: 'take means, or leave the delays out',
    applies: (observation, { kind }) =>
      kind === 'spectra' && observation.front?.delays !== undefined && some(observation, isSums),
  },
  {
    field: 'products.visibilities.values',
    with: 'front.bits: float',
    why: 'sums are whole numbers, and these channels are floats',
    fix: 'take means, or front.bits: 8',
    applies: (observation) => observation.front?.bits === 'float' && some(observation, isSums),
  },
  {
    field: 'products.visibilities.values',
    with: 'front.equaliser: measured',
    why: 'sums stay as they were summed, and the equaliser gains of inputs and channels could not be undone',
    fix: 'take means, or write the equaliser gains of voltages with front.equaliser-out',
    applies: (observation) =>
      observation.front?.equaliser === 'measured' &&
      observation.front['equaliser-out'] === undefined &&
      some(observation, isSums),
  },
  {
    field: 'gains.file',
    with: 'products without images, beams and calibrated visibilities',
    why: 'gains calibrate images and beams, and none are made',
    fix: 'leave the gains out, or ask for images or beams; of visibilities, for products.visibilities.calibrated',
    applies: (observation) =>
      observation.gains?.file !== undefined &&
      !some(observation, (one) => isProduct('images', one) || isProduct('beams', one) || isCalibrated(one)),
  },
  {
    field: 'gains.solve',
    with: 'products without images',
    why: 'solved gains calibrate images, and none are made',
    fix: 'ask for images; the product gains solves for gains alone',
    applies: (observation) =>
      observation.gains?.solve !== undefined && !some(observation, (one) => isProduct('images', one)),
  },
  {
    field: 'gains.solve',
    with: 'beams',
    why: 'a beam would begin before there are gains, and its levels would change with each solution',
    fix: 'solve gains first (products.gains), and give them as gains.file',
    applies: (observation) =>
      observation.gains?.solve !== undefined && some(observation, (one) => isProduct('beams', one)),
  },
  {
    field: 'products.visibilities.calibrated',
    with: 'gains.file left out',
    why: 'there are no gains',
    fix: 'give gains.file',
    applies: (observation) => observation.gains?.file === undefined && some(observation, isCalibrated),
  },
  {
    field: 'flags.keep-bursts',
    with: 'flags.interference left out',
    why: 'is for flags.interference',
    fix: 'add it, or leave this out',
    applies: ({ flags }) => isGiven(flags, 'keep-bursts') && !isGiven(flags, 'interference'),
  },
  {
    field: 'flags.out',
    with: 'nothing that is flagged',
    why: 'has nothing to write',
    fix: 'add flags.inputs, flags.file or flags.interference',
    applies: ({ flags }) =>
      isGiven(flags, 'out') &&
      !['inputs', 'channels', 'times', 'baselines', 'file', 'interference'].some((name) =>
        isGiven(flags, name),
      ),
  },
  ...(['threshold', 'loop-gain', 'auto-threshold', 'auto-mask'] as const).map((name): Unsupported => ({
    field: `products.images.${name}`,
    with: 'products.images.clean left out',
    why: 'is for CLEAN',
    fix: 'add products.images.clean',
    applies: (observation) =>
      some(
        observation,
        (one) => isProduct('images', one) && !isGiven(one, 'clean') && one[name] !== undefined,
      ),
  })),
  ...(['clean', 'cube', 'stokes', 'beam', 'beam-corrected'] as const).map((name): Unsupported => ({
    field: `products.images.${name}`,
    with: 'a series from a file of visibilities',
    why: 'is for one image, not for a series',
    fix: 'leave out products.images.every, or this',
    applies: (observation, { kind }) =>
      kind === 'visibilities' &&
      some(observation, (one) => isProduct('images', one) && one.every !== undefined && isGiven(one, name)),
  })),
  {
    field: 'products.images.picture',
    with: 'a series from a file of visibilities',
    why: 'a series has its animation',
    fix: 'leave it out',
    applies: (observation, { kind }) =>
      kind === 'visibilities' &&
      some(
        observation,
        (one) => isProduct('images', one) && one.every !== undefined && one.picture === false,
      ),
  },
  {
    field: 'products.images.sheet',
    with: 'products.images.every left out',
    why: 'is for a series',
    fix: 'give products.images.every, or leave it out',
    applies: (observation, { isLive }) =>
      !isLive &&
      some(
        observation,
        (one) => isProduct('images', one) && one.every === undefined && isGiven(one, 'sheet'),
      ),
  },
  {
    field: 'products.images.element',
    with: 'products.images.beam-corrected left out',
    why: 'is for beam-corrected images',
    fix: 'add products.images.beam-corrected, or leave it out',
    applies: (observation) =>
      some(
        observation,
        (one) => isProduct('images', one) && one.element !== undefined && !isGiven(one, 'beam-corrected'),
      ),
  },
  {
    field: 'products.images.weights',
    with: 'images of recordings and live data',
    why: 'Briggs weights need all visibilities at once',
    fix: 'give natural or uniform, or write visibilities and image those',
    applies: (observation, { kind }) =>
      kind !== 'visibilities' &&
      some(observation, (one) => isProduct('images', one) && (one.weights ?? '').startsWith('briggs')),
  },
  {
    field: 'products.images.weights',
    with: 'images (direct)',
    why: 'direct images weight every visibility alike',
    fix: 'leave the weights out, or image visibilities',
    applies: (observation) =>
      some(observation, (one) => isDirect(one) && 'weights' in one && one.weights === 'uniform'),
  },
  {
    field: 'products.images.kernel',
    with: 'images from visibilities',
    why: 'is for direct images: those from visibilities are gridded in u, v and w, with kernels of their own',
    fix: 'leave it out, or ask for method: direct',
    applies: (observation) =>
      some(observation, (one) => isProduct('images', one) && !isDirect(one) && (one.kernel ?? 5) !== 5),
  },
  {
    field: 'products.visibilities.values',
    with: 'front.delays.track',
    why: 'sums are whole numbers, and tracked data are unphased afterwards',
    fix: 'take means, or do not track',
    applies: (observation) => observation.front?.delays?.track !== undefined && some(observation, isSums),
  },
];

/** A field that is refused, never ignored. */
type NotUsed = Pick<Unsupported, 'field' | 'why' | 'fix'> & {
  readonly given: (observation: Observation) => unknown;
};

const someOf =
  <Name extends 'visibilities' | 'images' | 'gains'>(name: Name, is: (product: Product<Name>) => boolean) =>
  (observation: Observation): true | undefined =>
    some(observation, (one) => isProduct(name, one) && is(one)) || undefined;

/** Values of a field, from every product that has it. */
const valuesAt = (observation: Observation, path: readonly string[]): readonly unknown[] =>
  path[0] === 'products'
    ? observation.products.filter((one) => path[1] in one).map((one) => valueAt(one, path.slice(2)))
    : [valueAt(observation, path)];

/** Fields declared for visibilities. */
const ofVisibilities: readonly NotUsed[] = [
  ...fieldsOf(schema).filter(({ path }) => path[0] !== 'products'),
  ...productNames.flatMap((name) => fieldsOf(productFields[name], ['products', name])),
]
  .filter(({ about }) => about.of === 'visibilities')
  .map(({ path }) => ({
    field: path.join('.'),
    why: 'is for an observation whose source is visibilities',
    fix: 'leave it out, or write visibilities and give them as source.visibilities',
    given: (observation) =>
      valuesAt(observation, path).find((value) => value !== undefined && value !== false),
  }));

/** Fields that a run on visibilities does not use: it skips the front end and its units. */
const notOfVisibilities: readonly NotUsed[] = [
  {
    field: 'front',
    why: 'is for voltages and channelised data, and these are visibilities',
    fix: 'leave it out',
    given: ({ front }) => front,
  },
  ...(['kurtosis', 'kurtosis-spectra', 'kurtosis-over', 'kurtosis-bursts'] as const).map((name) => ({
    field: `flags.${name}`,
    why: 'is for voltages and channelised data',
    fix: 'leave it out; flags.interference finds interference in visibilities',
    given: ({ flags }: Observation) => (isGiven(flags, name) ? true : undefined),
  })),
  ...(['duration', 'channels', 'interface', 'epoch', 'meta'] as const).map((name) => ({
    field: `source.${name}`,
    why: 'is for other sources',
    fix: 'leave it out',
    given: ({ source }: Observation) => source[name],
  })),
  ...(['start', 'end', 'for', 'log', 'page'] as const).map((field) => ({
    field,
    why: 'is for live data',
    fix: 'leave it out; source.from and source.to choose times',
    given: (observation: Observation) => observation[field],
  })),
  {
    field: 'stations',
    why: 'visibilities are of the stations in their file',
    fix: 'leave it out; products.visibilities.antennas chooses some',
    given: ({ stations }) => stations,
  },
  ...(['solve', 'every', 'lag', 'min-baseline', 'element', 'diffuse'] as const).map((name) => ({
    field: `gains.${name}`,
    why: 'is for gains that are solved while data arrive',
    fix: 'ask for the product gains, and give its file as gains.file in another observation',
    given: ({ gains }: Observation) => gains?.[name],
  })),
  ...(['cards', 'self-check'] as const).map((name) => ({
    field: `machine.${name}`,
    why: 'is for voltages and channelised data',
    fix: 'leave it out',
    given: ({ machine }: Observation) => machine?.[name],
  })),
  ...(['spectra', 'beams'] as const).map((name) => ({
    field: `products.${name}`,
    why: 'is made of voltages or channelised data',
    fix: 'give source.recording',
    given: (observation: Observation) => some(observation, (one) => isProduct(name, one)) || undefined,
  })),
  ...(['integration', 'align', 'values', 'van-vleck', 'file-every'] as const).map((name) => ({
    field: `products.visibilities.${name}`,
    why: 'is for correlating',
    fix: 'leave it out; products.visibilities.average-time makes longer integrations',
    given: someOf('visibilities', (one) => isGiven(one, name)),
  })),
  ...(['integration', 'align', 'van-vleck'] as const).map((name) => ({
    field: `products.gains.${name}`,
    why: 'is for recordings and live data',
    fix: 'leave it out',
    given: someOf('gains', (one) => isGiven(one, name)),
  })),
  ...(['align', 'van-vleck', 'file-every'] as const).map((name) => ({
    field: `products.images.${name}`,
    why: 'is for recordings and live data',
    fix: 'leave it out',
    given: someOf('images', (one) => isGiven(one, name)),
  })),
  {
    field: 'products.images.method',
    why: 'direct images are made of voltages or channelised data',
    fix: 'leave it out, or image the recording',
    given: someOf('images', isDirect),
  },
  {
    field: 'products.images.autos',
    why: 'is for direct images: those from visibilities are of pairs of stations',
    fix: 'leave it out, or image the recording with products.images.method: direct',
    given: someOf('images', ({ autos }) => autos === true),
  },
];

/** Fields that a run on a recording does not use. */
const notOfRecordings: readonly NotUsed[] = [
  ...ofVisibilities,
  ...(['channels', 'interface', 'epoch', 'meta'] as const).map((field) => ({
    field: `source.${field}`,
    why: 'is for live data',
    fix: 'leave it out',
    given: ({ source }: Observation) => source[field],
  })),
  ...(['start', 'end', 'for'] as const).map((field) => ({
    field,
    why: 'is for live data',
    fix: 'give source.from and source.to of a recording',
    given: (observation: Observation) => observation[field],
  })),
  ...(['every', 'lag', 'min-baseline', 'element', 'diffuse'] as const).map((field) => ({
    field: `gains.${field}`,
    why: 'is for gains.solve',
    fix: 'add it, or leave this out',
    given: ({ gains }: Observation) => (gains?.solve === undefined ? gains?.[field] : undefined),
  })),
  {
    field: 'gains.solve',
    why: 'one image of everything begins before there are gains',
    fix: 'give products.images.every; or solve gains first, and give them as gains.file',
    given: ({ gains, products }) =>
      gains?.solve !== undefined &&
      products.some((one) => isProduct('images', one) && one.every === undefined)
        ? true
        : undefined,
  },
  {
    field: 'machine.self-check',
    why: 'is for live data',
    fix: 'leave it out',
    given: ({ machine }) => machine?.['self-check'],
  },
  {
    field: 'products.visibilities.file-every',
    why: 'a recording makes one file',
    fix: 'leave it out',
    given: (observation) =>
      some(observation, (one) => isProduct('visibilities', one) && one['file-every'] !== undefined) ||
      undefined,
  },
  {
    field: 'products.images.file-every',
    why: 'a recording makes one file',
    fix: 'leave it out',
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
    field: 'products.images.cube',
    why: 'a series averages its channels',
    fix: 'leave out every, or cube',
    given: (observation) =>
      some(observation, (one) => isProduct('images', one) && one.cube === true && one.every !== undefined) ||
      undefined,
  },
];

/** Fields that a live run does not use: packets, streams, captures. */
const notLive: readonly NotUsed[] = [
  ...ofVisibilities,
  ...(['from', 'to', 'duration'] as const).map((field) => ({
    field: `source.${field}`,
    why: 'is for recordings',
    fix: 'give start, end or for',
    given: ({ source }: Observation) => source[field],
  })),
  ...(
    [
      ...(['sample-bits', 'skip', 'near', 'tuning', 'metafits', 'remove-cables', 'sideband'] as const),
      ...(['stored-pair', 'seconds-of', 'column', 'target'] as const),
    ] as const
  ).map((field) => ({
    field: `source.${field}`,
    why: 'is for files',
    fix: 'leave it out',
    given: ({ source }: Observation) => source[field],
  })),
  ...(['sample-type', 'inputs', 'start', 'meta'] as const).map((field) => ({
    field: `source.${field}`,
    why: 'is for streams of plain samples; packets state it themselves',
    fix: 'leave it out',
    given: ({ source }: Observation) => (source.stream === undefined ? source[field] : undefined),
  })),
  ...(['format', 'epoch'] as const).map((field) => ({
    field: `source.${field}`,
    why: 'is for packets',
    fix: 'leave it out',
    given: ({ source }: Observation) => (source.stream === undefined ? undefined : source[field]),
  })),
  {
    field: 'source.interface',
    why: 'is by which a group is joined, with source.listen',
    fix: 'leave it out',
    given: ({ source }) => (source.listen === undefined ? source.interface : undefined),
  },
  {
    field: 'front.float-taps',
    why: 'live 8-bit samples are filtered with taps of 16 bits',
    fix: 'leave it out, or record and correlate the recording',
    given: ({ front }) => front?.['float-taps'] === true || undefined,
  },
  {
    field: 'front.equaliser',
    why: 'live data cannot be read ahead to measure the equaliser gains',
    fix: 'measure them on a recording (front.equaliser-out writes them) and give that file',
    given: ({ front }) => (front?.equaliser === 'measured' ? true : undefined),
  },
  {
    field: 'front.equaliser-out',
    why: 'live equaliser gains come from a file',
    fix: 'leave it out; a run of a recording measures and writes them',
    given: ({ front }) => front?.['equaliser-out'],
  },
  {
    field: 'gains.cross-hand',
    why: 'live images show the total intensity',
    fix: 'leave it out',
    given: ({ gains }) => gains?.['cross-hand'],
  },
  {
    field: 'machine.cards',
    why: 'live data go to one card',
    fix: 'name one card',
    given: ({ machine }) => ((machine?.cards?.length ?? 0) > 1 ? true : undefined),
  },
  {
    field: 'products.images.cube',
    why: 'a series averages its channels',
    fix: 'leave it out',
    given: someOf('images', ({ cube }) => cube === true),
  },
  ...(['beam-corrected', 'element'] as const).map((field) => ({
    field: `products.images.${field}`,
    why: 'live images are of apparent brightness',
    fix: 'leave it out, or write visibilities and use corella image',
    given: someOf('images', (one) => (one[field] ?? false) !== false),
  })),
  {
    field: 'products.images.feeds',
    why: 'live images show the total intensity',
    fix: 'leave it out',
    given: someOf('images', ({ feeds }) => feeds !== undefined),
  },
  {
    field: 'products.images.file-every',
    why: 'is for .fits',
    fix: 'leave it out, or name a .fits',
    given: someOf('images', (one) => one['file-every'] !== undefined && !isFits(one.images)),
  },
  {
    field: 'products.images.sheet',
    why: 'is for .fits',
    fix: 'leave it out, or name a .fits',
    given: someOf('images', ({ sheet, images }) => sheet === true && !isFits(images)),
  },
];

const isFits = (path: string | null): boolean => /\.fits?$/i.test(path ?? '');

/** The table for the docs. */
export const supportTable = (): string =>
  [
    '| field | not with | why | instead |',
    '| --- | --- | --- | --- |',
    ...unsupported.map((one) => `| \`${one.field}\` | ${one.with} | ${one.why} | ${one.fix} |`),
    ...notOfRecordings.map((one) => `| \`${one.field}\` | recordings | ${one.why} | ${one.fix} |`),
    ...notOfVisibilities.map((one) => `| \`${one.field}\` | visibilities | ${one.why} | ${one.fix} |`),
    ...notLive.map((one) => `| \`${one.field}\` | live data | ${one.why} | ${one.fix} |`),
    '',
  ].join('\n');

/** A refusal from the table. */
type Refused = Pick<Unsupported, 'field' | 'why' | 'fix'>;

/** The table's first refusal of an observation, if any; for live data, those independent of the data first. */
export const refusalOf = (observation: Observation, about: AboutSource): Refused | undefined =>
  (about.isLive ? notLive : notOfRecordings).find(({ given }) => given(observation) !== undefined) ??
  (about.isLive
    ? unsupported.find(({ applies }) => applies(observation, { ...about, kind: undefined }))
    : undefined) ??
  unsupported.find(({ applies }) => applies(observation, about));

/** Called before the source is opened: refusals that hold for any recording. */
export function refuseNotOfRecordings(observation: Observation): void {
  for (const { field, why, fix, given } of notOfRecordings)
    if (given(observation) !== undefined) refuse(field, why, fix, 'unsupported');
}

/** The same for visibilities. */
export function refuseNotOfVisibilities(observation: Observation): void {
  for (const { field, why, fix, given } of notOfVisibilities)
    if (given(observation) !== undefined) refuse(field, why, fix, 'unsupported');
  refuseUnsupported(observation, { isLive: false, kind: 'visibilities' });
}

/** Called before waiting for data: refusals that hold for any live data. */
export function refuseNotLive(observation: Observation, only?: string): void {
  for (const { field, why, fix, given } of notLive)
    if ((only === undefined || field === only) && given(observation) !== undefined)
      refuse(field, why, fix, 'unsupported');
}

export function refuseUnsupported(observation: Observation, about: AboutSource): void {
  for (const { field, why, fix, applies } of unsupported)
    if (applies(observation, about)) refuse(field, why, fix, 'unsupported');
}
