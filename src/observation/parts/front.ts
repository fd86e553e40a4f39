/** The front end: how samples become spectra. */
import { z } from 'zod';
import type { FilterName, FilterWindow } from '../../channelise/index.js';
import { refuse } from '../../core/errors.js';
import { field, flagged, inputPath, outputPath, real, whole, withForm, words } from '../../fields/index.js';

const group = 'Channels';

/** Tests compare them with the available filters. */
export const filterNames = ['usual', 'even', 'flat', 'sharp', 'dft'] as const satisfies readonly FilterName[];

const WINDOW = /^(?:rectangular|hann|hamming|blackman|kaiser:\d+(?:\.\d*)?)$/;
const window = withForm(
  z.string().refine((text) => WINDOW.test(text), 'is not a window'),
  { words: 'rectangular, hann, hamming, blackman or kaiser:BETA, like kaiser:9', pattern: WINDOW.source },
);

/** A window in the channeliser's form. */
export function windowOf(text: string): FilterWindow {
  const [kind, beta] = text.split(':');
  if (kind === 'kaiser') return { kind, beta: Number(beta) };
  return kind === 'rectangular' || kind === 'hann' || kind === 'hamming' || kind === 'blackman'
    ? { kind }
    : refuse(
        'front.window',
        `'${text}' is not a window`,
        'choose rectangular, hann, hamming, blackman or kaiser:BETA',
      );
}

const delayFields = z.strictObject({
  track: field(words('a source, "RA Dec", Sun, or the path of a delays.json'), {
    flag: '--track <place>',
    group: 'Delays',
    changes: 'never',
    help: 'follow a source or "RA Dec" with delays and fringes; also Sun, or the pieces of a delays.json; unphased at the middle of each integration or image',
  }),
  fixed: field(inputPath, {
    flag: '--delays <path>',
    group: 'Delays',
    changes: 'never',
    help: 'a fixed delay or cable length for each input, as "fixed" in a delays.json; added to those in the telescope\'s description',
  }),
});
/** A bare path is a file of fixed delays. */
const delays = z.union([
  delayFields,
  inputPath.transform((fixed): z.output<typeof delayFields> => ({ fixed })),
]);

export const front = z.strictObject({
  channels: field(whole, {
    flag: '--channels <number>',
    group,
    changes: 'never',
    range: { least: 2, most: 2 ** 20 },
    help: 'number of channels to make from voltages',
    otherwise: "the telescope's own",
  }),
  filter: field(z.enum(filterNames), {
    flag: '--filter <name>',
    group,
    changes: 'never',
    help: `a filter by name: ${filterNames.join(', ')}; channelise --response shows what each does`,
    otherwise: 'usual',
  }),
  taps: field(whole, {
    flag: '--taps <number>',
    group,
    changes: 'never',
    range: { least: 1, most: 256 },
    help: 'taps per channel of the polyphase filter',
    otherwise: "8, or the named filter's own",
  }),
  window: field(window, {
    flag: '--window <name>',
    group,
    changes: 'never',
    help: 'window of the filter: rectangular, hann, hamming, blackman, kaiser:BETA',
    otherwise: 'hann',
  }),
  passband: field(real, {
    flag: '--passband <channels>',
    group,
    changes: 'never',
    unit: 'channels',
    range: { least: 0.1, most: 10 },
    help: "width of the filter's passband",
    otherwise: '1',
  }),
  coefficients: field(inputPath, {
    flag: '--coefficients <path>',
    group,
    changes: 'never',
    help: 'a filter of your own: a file with one number per line, taps × samples per spectrum of them',
  }),
  bits: field(z.union([z.literal(8), z.literal(4), z.literal('float')]), {
    flag: '--bits <bits>',
    group,
    changes: 'never',
    help: 'bits of each real and imaginary part of a channel: 8, 4 or float',
    otherwise: '8, or float where the samples are floats',
  }),
  gain: field(real, {
    flag: '--gain <factor>',
    group,
    changes: 'never',
    range: { above: 0 },
    help: 'gain before rounding',
    otherwise: 'from the first samples of a recording; live, noise keeps its level in units of full scale',
  }),
  'float-taps': field(flagged, {
    flag: '--float-taps',
    group,
    changes: 'never',
    default: false,
    help: 'filter 8-bit samples with taps of floats instead of 16-bit integers (leakage floor near −100 dB): slower',
  }),
  finer: field(whole, {
    flag: '--fine-channels <number>',
    group,
    changes: 'never',
    range: { least: 2, most: 2 ** 20 },
    help: 'split each channel of channelised data into this many; filter, taps and bits as for voltages',
  }),
  equaliser: field(words('measured, or the path of a file'), {
    flag: '--equaliser <measured|file>',
    group: 'Equaliser gains, before rounding',
    changes: 'never',
    help: 'a gain for each input and channel beside the common one: measured on the first spectra, or from a file of equaliser gains; undone in means',
    otherwise: 'none',
  }),
  'equaliser-out': field(outputPath, {
    flag: '--equaliser-out <path>',
    group: 'Equaliser gains, before rounding',
    changes: 'never',
    help: 'write the equaliser gains that were measured, as JSON',
  }),
  delays: field(delays, {
    group: 'Delays',
    changes: 'never',
    help: 'a file of fixed delays, or a place to track',
  }),
});
export type FrontPart = z.output<typeof front>;
