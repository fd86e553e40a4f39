/** Messages on recordings and visibilities: missing, flagged, rounded or assumed data. */
import { formatBytes, formatSeconds, percent, twoDigits } from '../core/units.js';
import { count, declare, listed } from './declare.js';

const digits = (value: number): string => Number(value.toPrecision(3)).toString();
const inputs = (many: number): string => `${many} ${many === 1 ? 'input is' : 'inputs are'}`;

const DAY_S = 86_400;
const longTime = (seconds: number): string =>
  seconds >= 2 * DAY_S
    ? `${Math.floor(seconds / DAY_S)} days`
    : seconds >= 7200
      ? `${(seconds / 3600).toFixed(1)} h`
      : formatSeconds(seconds);

/** Of a disk that a live run writes to. */
const room = {
  folder: 'on that disk',
  bytesPerS: 'by which files of visibilities grow, in bytes a second',
  freeBytes: 'free on it',
  fullInS: 'time until it is full, in seconds',
} as const;
const roomText = (facts: {
  readonly folder: string;
  readonly bytesPerS: number;
  readonly freeBytes: number;
  readonly fullInS: number;
}): string =>
  `visibilities grow by ${formatBytes(facts.bytesPerS)} a second: the disk of ${facts.folder}, with ${formatBytes(facts.freeBytes)} free, is full in ${longTime(facts.fullInS)}`;

export const dataMessages = {
  'data.assumed': declare({
    severity: 'note',
    data: { what: 'in words' },
    text: ({ what }: { what: string }) => what,
    help: 'The file does not state something that is needed, or states it only in part. The message states what was assumed; options of the command set it.',
  }),
  'data.missing': declare({
    severity: 'warning',
    data: {
      samples: 'over all inputs',
      isOfChannels: 'whether each channel counts',
      then: 'what becomes of them',
    },
    text: ({ samples, isOfChannels, then }: { samples: number; isOfChannels: boolean; then: string }) =>
      `${count(samples, 'sample')} missing, over all inputs${isOfChannels ? ' and channels' : ''}; ${then}`,
    help: 'Missing samples are zero and are not counted in weights. `inspect` shows when and where they are missing.',
  }),
  'data.leap-second': declare({
    severity: 'warning',
    data: { path: 'of the images', second: 'UTC' },
    text: ({ path, second }: { path: string; second: string }) =>
      `${path}: the leap second ${second} is not written: dates of files cannot hold it`,
    help: 'Dates of files have days of 86,400 s, and data within 23:59:60 would get a date one second late. A new file begins after the leap second.',
  }),
  'data.frames-invalid': declare({
    severity: 'warning',
    data: { frames: 'how many' },
    text: ({ frames }: { frames: number }) => `${count(frames, 'frame')} marked invalid or damaged`,
    help: 'The recorder marked these frames as invalid, or their header is damaged. Their samples count as missing.',
  }),
  'data.frames-late': declare({
    severity: 'warning',
    data: { frames: 'how many' },
    text: ({ frames }: { frames: number }) => `${count(frames, 'frame')} too far out of order to be used`,
    help: 'These frames are so far behind the others in the file that their block was already read. Their samples count as missing.',
  }),
  'data.frames-duplicate': declare({
    severity: 'warning',
    data: { frames: 'how many' },
    text: ({ frames }: { frames: number }) => `${count(frames, 'duplicate frame')}: the first is used`,
    help: 'Two frames have the same time and input. Two sources may have the same ID.',
  }),
  'data.frames-outside': declare({
    severity: 'warning',
    data: { frames: 'how many' },
    text: ({ frames }: { frames: number }) =>
      `${count(frames, 'frame')} outside the time range of the recording`,
    help: 'The time of these frames is before the first or after the last frame: often damaged headers.',
  }),
  'data.spare-bytes': declare({
    severity: 'warning',
    data: { bytes: 'how many' },
    text: ({ bytes }: { bytes: number }) =>
      `${formatBytes(bytes)} are not in a whole frame: the file is truncated or damaged there`,
    help: 'The reader searched for the next frame header and found it later. What is between counts as missing.',
  }),
  'data.ends-early': declare({
    severity: 'warning',
    data: {
      said: 'what of the header promises more',
      promisedBytes: 'by the header',
      heldBytes: 'in the file',
      missingSamples: 'of each input',
      missingS: 'the same as time',
    },
    text: ({
      said,
      promisedBytes,
      heldBytes,
      missingSamples,
      missingS,
    }: {
      said: string;
      promisedBytes: number;
      heldBytes: number;
      missingSamples: number;
      missingS: number;
    }) =>
      `the file ends ${count(missingSamples, 'sample')} of each input (${formatSeconds(missingS)}) before its header's ${said}: ` +
      `it has ${formatBytes(heldBytes)} of ${formatBytes(promisedBytes)}; it was truncated, or the recording stopped`,
    help: 'Everything in the file is used. Copy it again if the copy was interrupted.',
  }),
  'check.not-here': declare({
    severity: 'warning',
    data: { what: 'what is missing, and what there is' },
    text: ({ what }: { what: string }) => `on this machine ${what}`,
    help: 'The observation is valid, and run refuses it on this machine. Check it again on the machine that observes.',
  }),
  'disk.full-in': declare({
    severity: 'note',
    data: room,
    text: roomText,
    help: 'A live run writes until it is stopped. On a full disk a file ends with what was finished, and nothing more is written until there is room.',
  }),
  'disk.full-soon': declare({
    severity: 'warning',
    data: room,
    text: roomText,
    help: 'Less than a day. A live run writes until it is stopped. On a full disk a file ends with what was finished, and nothing more is written until there is room.',
  }),
  'data.saturated': declare({
    severity: 'note',
    data: { numbers: 'real and imaginary parts apart', part: 'of all, as a fraction' },
    text: ({ numbers, part }: { numbers: number; part: number }) =>
      `${count(numbers, 'number')} saturated on requantising, ${percent(part)} of all`,
    help: 'Values beyond the range of the bits are set to the largest. A few are normal.',
  }),
  'data.saturated-much': declare({
    severity: 'warning',
    data: { numbers: 'real and imaginary parts apart', part: 'of all, as a fraction' },
    text: ({ numbers, part }: { numbers: number; part: number }) =>
      `${count(numbers, 'number')} saturated on requantising, ${percent(part)} of all: give a lower front.gain, or front.bits: float`,
    help: 'More than 1 % of the values are beyond the range of the bits, which distorts powers and correlations. Lower the gain, or keep floats.',
  }),
  'level.silent-start': declare({
    severity: 'warning',
    data: { samples: 'that are zero', isGiven: 'whether the gain was given' },
    text: ({ samples, isGiven }: { samples: number; isGiven: boolean }) =>
      `the first ${samples} samples are zero: the gain is ${isGiven ? 'as given' : 'the nominal one'}, and the loss by rounding is unknown; give front.gain, or front.bits: float`,
    help: 'The level for rounding is measured from the first samples, and these are zero.',
  }),
  'level.gain': declare({
    severity: 'note',
    data: {
      inputRms: 'in levels',
      outputRms: 'in levels',
      gain: 'before rounding',
      follows: '`measured`, `given` or `nominal`',
      efficiency: 'of rounding, as a fraction',
    },
    text: ({
      inputRms,
      outputRms,
      gain,
      follows,
      efficiency,
    }: {
      inputRms: number;
      outputRms: number;
      gain: number;
      follows: string;
      efficiency: number;
    }) =>
      `level: ${digits(inputRms)} rms in, ${digits(outputRms)} levels rms after a gain of ${Number(gain.toPrecision(4))}` +
      `${follows === 'measured' ? ' (measured)' : follows === 'given' ? ' (given)' : ''}; rounding keeps ${percent(efficiency, 1)} of a weak signal`,
    help: 'The samples are multiplied by the gain and rounded to the bits of the spectra. Efficiency is the squared signal-to-noise ratio that is left. front.gain sets the gain.',
  }),
  'level.weak-input': declare({
    severity: 'warning',
    data: { rms: 'of the weakest input, in levels', efficiency: 'of rounding, as a fraction' },
    text: ({ rms, efficiency }: { rms: number; efficiency: number }) =>
      `the weakest input has ${digits(rms)} levels rms: rounding keeps ${percent(efficiency, 1)} of a weak signal; give a larger front.gain, or front.bits: float`,
    help: 'Most numbers of this input round to zero. Raise the gain, give each input its own (front.equaliser: measured), or keep floats.',
  }),
  'level.silent-samples': declare({
    severity: 'note',
    data: { samples: 'that are zero' },
    text: ({ samples }: { samples: number }) =>
      `the first ${samples} samples are zero: the level is measured from what follows`,
    help: 'The recording begins before the signal. Nothing is wrong with the level.',
  }),
  'level.silent-inputs': declare({
    severity: 'note',
    data: { inputs: 'how many' },
    text: ({ inputs: many }: { inputs: number }) => `${inputs(many)} zero at the start`,
    help: 'These inputs have no signal in the first samples. A picture of the recording (`inspect`) shows the levels of all inputs.',
  }),
  'level.rounded-weak': declare({
    severity: 'warning',
    data: {
      weak: 'channels of inputs below one level rms',
      of: 'channels of inputs with signal',
      efficiency: 'of rounding, of the weakest',
      unit: 'over what the level was measured',
      advice: 'in words',
    },
    text: ({
      weak,
      of,
      efficiency,
      unit,
      advice,
    }: {
      weak: number;
      of: number;
      efficiency: number;
      unit: string;
      advice: string;
    }) =>
      `${weak} of ${of} channels of inputs have less than one level rms in some ${unit}; rounding keeps ${percent(efficiency, 1)} of a weak signal in the weakest: ${advice}`,
    help: 'Rounding to few bits loses signal where the level is low. Raise the gain, measure a gain for each input and channel (front.equaliser: measured), or keep floats (front.bits: float).',
  }),
  'level.changed': declare({
    severity: 'warning',
    data: {
      leastRms: 'in levels',
      mostRms: 'in levels',
      expectedRms: 'from the first samples',
      units: 'what was measured',
    },
    text: ({
      leastRms,
      mostRms,
      expectedRms,
      units,
    }: {
      leastRms: number;
      mostRms: number;
      expectedRms: number;
      units: string;
    }) =>
      `${units} have ${digits(leastRms) === digits(mostRms) ? '' : `${digits(leastRms)} to `}${digits(mostRms)} levels rms, and the first samples had ${digits(expectedRms)}: the level changed, or a carrier saturates`,
    help: 'Four bits have little room: a level that changes by a quarter costs signal. Give a fixed gain, or keep eight bits.',
  }),
  'level.zero-sometimes': declare({
    severity: 'warning',
    data: { inputs: 'how many', units: 'what was measured' },
    text: ({ inputs: many, units }: { inputs: number; units: string }) =>
      `${inputs(many)} zero in some ${units}: no signal, or too weak for the gain`,
    help: 'A cable, an amplifier or a sender dropped out for a time, or the signal rounds to zero.',
  }),
  'level.zero-always': declare({
    severity: 'warning',
    data: { inputs: 'how many', where: 'in words' },
    text: ({ inputs: many, where }: { inputs: number; where: string }) =>
      `${inputs(many)} zero ${where}: no signal, or too weak for the gain`,
    help: 'These inputs have no signal at all. Flag them, or check their cables.',
  }),
  'level.equaliser': declare({
    severity: 'note',
    data: {
      from: '`measured` or `given`',
      least: 'gain over the nominal one',
      most: 'gain over the nominal one',
      efficiency: 'of rounding, where measured',
    },
    text: ({
      from,
      least,
      most,
      efficiency,
    }: {
      from: string;
      least: number;
      most: number;
      efficiency?: number;
    }) =>
      `equaliser gains by input and channel, ${from}: ${digits(least)} to ${digits(most)} times the nominal gain` +
      (efficiency === undefined ? '' : `; rounding keeps ${percent(efficiency, 1)} of a weak signal`),
    help: 'Each input and channel has a gain of its own before rounding; it is divided out of visibilities.',
  }),
  'level.equaliser-silent': declare({
    severity: 'note',
    data: { channels: 'of inputs, how many' },
    text: ({ channels }: { channels: number }) =>
      `${channels} ${channels === 1 ? 'channel of an input has' : 'channels of inputs have'} no signal at first: the median gain of the input, or of the others, is used`,
    help: 'A gain cannot be measured where there is no signal.',
  }),
  'front.mirrored': declare({
    severity: 'warning',
    data: { mirrored: 'channels, from the first', channels: 'how many there are' },
    text: ({ mirrored, channels }: { mirrored: number; channels: number }) =>
      `channels 0-${mirrored - 1} are below the band, which was sampled as real numbers, and mirror those above its edge: leave them out (products.visibilities.channels: ${mirrored}-${channels - 1})`,
    help: 'Around zero frequency of real samples one side is the mirror image of the other.',
  }),
  'front.taps-wide': declare({
    severity: 'note',
    data: {},
    text: () => "the filter's taps are floats: samples are converted to 16 bits, which is slower",
    help: 'Float taps lower the leakage of the filter from −80 dB to about −100 dB.',
  }),
  'front.taps-float-anyway': declare({
    severity: 'note',
    data: { type: 'of the samples' },
    text: ({ type }: { type: string }) => `the filter of ${type} samples has float taps without this option`,
    help: 'Only 8-bit samples use integer taps by default.',
  }),
  'flags.asked': declare({
    severity: 'note',
    data: { part: 'of the values, as a fraction' },
    text: ({ part }: { part: number }) =>
      part > 0
        ? `flagged as requested: ${percent(part, part < 0.001 ? 3 : 1)} of the values`
        : 'flagged as requested: none, no value there has weight',
    help: 'Rules of --flag and the like. Where nothing was flagged, check channels, times and names.',
  }),
  'flags.not-in-spectra': declare({
    severity: 'warning',
    data: {},
    text: () =>
      'products.spectra: flags of inputs, channels, times and pairs are not in channelised data; give them again where it is correlated',
    help: 'A file of channelised data has no place for these flags. They are applied to the other products.',
  }),
  'flags.interference': declare({
    severity: 'note',
    data: { part: 'of the values, as a fraction', isNone: 'whether nothing was found' },
    text: ({ part, isNone }: { part: number; isNone: boolean }) =>
      isNone
        ? 'interference: none found'
        : `interference: ${percent(part, part > 0 && part < 0.001 ? 3 : 1)} of the values flagged`,
    help: 'Values that stand out from their neighbours in time and frequency are flagged (flags.interference).',
  }),
  'flags.interference-much': declare({
    severity: 'warning',
    data: { part: 'of the values, as a fraction' },
    text: () =>
      'interference: more than half of the data; look at a picture of them (corella inspect) before you use the rest',
    help: 'Either the interference is strong, or the threshold is too low for these data.',
  }),
  'flags.interference-channels': declare({
    severity: 'note',
    data: { channels: 'the worst, in words', more: 'how many more' },
    text: ({ channels, more }: { channels: readonly string[]; more: number }) =>
      `interference: channels ${channels.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    help: 'More than a fifth of the values of these channels are flagged.',
  }),
  'flags.interference-inputs': declare({
    severity: 'note',
    data: { inputs: 'the worst, in words' },
    text: ({ inputs: names }: { inputs: readonly string[] }) => `interference: inputs ${names.join(', ')}`,
    help: 'More than a fifth of the values of these inputs are flagged: often one bad receiver.',
  }),
  'flags.burst': declare({
    severity: 'warning',
    data: {
      fromUtc: 'its begin',
      toUtc: 'its end',
      channels: 'how many',
      ofChannels: 'of how many',
      dispersion: 'in pc/cm³, where it sweeps like a pulse',
      isKept: 'whether it is kept',
    },
    text: ({
      fromUtc,
      toUtc,
      channels,
      ofChannels,
      dispersion,
      isKept,
    }: {
      fromUtc: string;
      toUtc: string;
      channels: number;
      ofChannels: number;
      dispersion?: number;
      isKept: boolean;
    }) =>
      `a burst on most baselines, ${fromUtc} to ${toUtc}, ${channels} of ${ofChannels} channels` +
      (dispersion === undefined ? '' : `, sweeping like a pulse of ${twoDigits(dispersion)} pc/cm³`) +
      (isKept ? ': kept' : ': flagged, though it may be of the sky (flags.keep-bursts keeps it)'),
    help: 'A signal that is the same on most baselines may come from the sky: the Sun, a pulsar, a fast burst. flags.keep-bursts does not flag it.',
  }),
  'flags.more-bursts': declare({
    severity: 'note',
    data: { bursts: 'how many' },
    text: ({ bursts }: { bursts: number }) => `${count(bursts, 'more burst')}; --json lists all`,
    help: 'See flags.burst. The `flags.bursts` field of --json has all.',
  }),
  'flags.not-numbers': declare({
    severity: 'warning',
    data: { values: 'how many' },
    text: ({ values }: { values: number }) =>
      `${values} ${values === 1 ? 'value is' : 'values are'} NaN or infinite: flagged`,
    help: 'The file has values that are not numbers. They are flagged, and everything else is used.',
  }),
  'flags.outsized': declare({
    severity: 'warning',
    data: { values: 'how many' },
    text: ({ values }: { values: number }) =>
      `${values} ${values === 1 ? 'value is' : 'values are'} too large to be real, up to more than 10¹² times the median of the cross-correlations: flagged; the file is damaged, or was never filled`,
    help: 'No receiver has such a range. In an integration with such a value, every value above 10⁴ times the median is flagged. The others may be damaged too: write the file again.',
  }),
  'feeds.orientation-unknown': declare({
    severity: 'warning',
    data: {},
    text: () =>
      'the orientation of X is unknown: east is assumed; if it is north, Q and V have the opposite sign',
    help: 'The file does not state where the feeds point.',
  }),
  'kurtosis.flagged': declare({
    severity: 'note',
    data: {
      part: 'of the samples, as a fraction',
      windows: 'how many',
      spectraPerWindow: 'about',
      sigmas: 'the threshold',
      expected: 'of noise alone, as a fraction',
    },
    text: ({
      part,
      windows,
      spectraPerWindow,
      sigmas,
      expected,
    }: {
      part: number;
      windows: number;
      spectraPerWindow: number;
      sigmas: number;
      expected: number;
    }) =>
      `interference: ${percent(part)} of the samples flagged, in ${count(windows, 'window')} of about ${spectraPerWindow} spectra at ${sigmas} σ; of noise alone it is ${percent(expected)}`,
    help: 'Spectral kurtosis compares the statistics of each channel with those of noise (docs/interference.md).',
  }),
  'kurtosis.most': declare({
    severity: 'note',
    data: {
      what: '`channels` or `inputs`',
      worst: 'of each its number `n` and the flagged `part`',
      more: 'how many more',
    },
    text: ({
      what,
      worst,
      more,
    }: {
      what: string;
      worst: readonly { readonly n: number; readonly part: number }[];
      more: number;
    }) =>
      `  most in ${what} ${worst.map(({ n, part }) => `${n} (${percent(part)})`).join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    help: 'These lose more than four times what noise alone would.',
  }),
  'kurtosis.not-tested': declare({
    severity: 'note',
    data: { part: 'of the windows, as a fraction' },
    text: ({ part }: { part: number }) =>
      `  ${part < 1 ? percent(part) : 'all'} of the windows were too short, too weak or without signal, and were not tested`,
    help: 'The statistics of a window need enough samples above the rounding.',
  }),
  'kurtosis.burst': declare({
    severity: 'warning',
    data: {
      startS: 'after the start',
      durationS: 'how long',
      channels: 'how many',
      ofChannels: 'of how many',
      fate: '`kept` or `taken` (flagged)',
      flag: 'what flags it too',
    },
    text: ({
      startS,
      durationS,
      channels,
      ofChannels,
      fate,
      flag,
    }: {
      startS: number;
      durationS: number;
      channels: number;
      ofChannels: number;
      fate: string;
      flag: string;
    }) =>
      `  ${formatSeconds(startS)} after the start, ${formatSeconds(durationS)} long, most inputs received something in ${channels} of ${ofChannels} channels at once: ` +
      (fate === 'kept' ? `kept, as it may be the sky (${flag} flags it)` : 'flagged'),
    help: 'A signal on most inputs at once may be lightning, a radar, the Sun, or a burst from the sky.',
  }),
  'kurtosis.sweep': declare({
    severity: 'warning',
    data: {
      startS: 'after the start',
      durationS: 'how long',
      fromChannel: 'its first',
      toChannel: 'its last',
      fate: '`kept` or `taken` (flagged)',
    },
    text: ({
      startS,
      durationS,
      fromChannel,
      toChannel,
      fate,
    }: {
      startS: number;
      durationS: number;
      fromChannel: number;
      toChannel: number;
      fate: string;
    }) =>
      `  ${formatSeconds(startS)} after the start, ${formatSeconds(durationS)} long, most inputs received a sweep from channel ${fromChannel} to ${toChannel}: ` +
      `a dispersed pulse, or a drifting carrier; it was ${fate === 'kept' ? 'kept' : 'flagged'}`,
    help: 'A dispersed pulse from the sky arrives later at lower frequencies.',
  }),
  'kurtosis.more': declare({
    severity: 'note',
    data: { episodes: 'how many' },
    text: ({ episodes }: { episodes: number }) => `  and ${episodes} more like these`,
    help: 'See kurtosis.burst and kurtosis.sweep. --json has the first of them with times.',
  }),
  'van-vleck.not-corrected': declare({
    severity: 'warning',
    data: { products: 'left as they were', of: 'of how many' },
    text: ({ products, of }: { products: number; of: number }) =>
      `${products} of ${of} products were not corrected: their inputs are too weak or too strong to know what rounding did`,
    help: 'The van Vleck correction needs levels within the range of the bits. Use another gain.',
  }),
  'van-vleck.recorder': declare({
    severity: 'note',
    data: { bits: 'of the recording, 1 or 2' },
    text: ({ bits }: { bits: number }) =>
      `van Vleck correction: the recording's own rounding to ${bits === 1 ? 'one bit' : 'two bits'}, which weakens correlations by ${bits === 1 ? 36 : 12} %, is not corrected`,
    help: 'The correction is for the rounding after the filter. The rounding of the recorder was before the filter.',
  }),
  'visibilities.integration-shortened': declare({
    severity: 'note',
    data: { integrationS: 'how long they are' },
    text: ({ integrationS }: { integrationS: number }) =>
      `integrations of ${formatSeconds(integrationS)}, the longest that keep 99 % of the amplitude; products.visibilities.integration sets another length`,
    help: 'The default length is shortened where the rotation of the sky would cost more than 1 % on the longest baseline.',
  }),
  'visibilities.integration-rounded': declare({
    severity: 'note',
    data: { integrationS: 'how long they are', askedS: 'what was asked for' },
    text: ({ integrationS, askedS }: { integrationS: number; askedS: number }) =>
      `integrations of ${formatSeconds(integrationS)}: whole spectra, the nearest to ${formatSeconds(askedS)}`,
    help: 'An integration is a whole number of spectra.',
  }),
  'beams.missing': declare({
    severity: 'note',
    data: { path: 'the file of counts', missing: 'samples', possible: 'samples' },
    text: ({ path, missing, possible }: { path: string; missing: number; possible: number }) =>
      `${path}: how many samples are in each value; ${missing === 0 ? 'none is missing' : `${missing} of ${possible} (${percent(missing / possible)}) are missing or flagged, and add nothing`}`,
    help: 'Each value is a mean over the samples that arrived; this file has their number.',
  }),
  'beams.left-out': declare({
    severity: 'note',
    data: { spectra: 'how many' },
    text: ({ spectra }: { spectra: number }) =>
      `${count(spectra, 'spectrum', 'spectra')} at the end are too few for a value, and left out`,
    help: 'The last value would be shorter than the others.',
  }),
  'beams.saturated': declare({
    severity: 'warning',
    data: { values: 'how many', part: 'as a fraction', bits: 'of a value' },
    text: ({ values, part, bits }: { values: number; part: number; bits: number }) =>
      `${values} values (${percent(part)}) are outside the range of ${bits} bits`,
    help: 'They are set to the largest value. Write more bits, or floats.',
  }),
  'beams.phase-only': declare({
    severity: 'note',
    data: { loss: 'of the station with the largest delay, as a fraction' },
    text: ({ loss }: { loss: number }) =>
      `channels are steered by phases alone: the station with the largest delay loses ${percent(loss, 2)} of its amplitude`,
    help: 'Use narrower channels where it matters.',
  }),
  'beams.inefficient': declare({
    severity: 'warning',
    data: { efficiency: 'squared signal-to-noise ratio as a part of that of equal weights' },
    text: ({ efficiency }: { efficiency: number }) =>
      `the taper and the nulls leave ${percent(efficiency, 0)} of the squared signal-to-noise ratio of equal weights`,
    help: 'A null near a beam costs most. Point the beam elsewhere, take fewer nulls, or a wider taper.',
  }),
  'beams.weighted': declare({
    severity: 'note',
    data: {
      efficiency: 'squared signal-to-noise ratio as a part of that of equal weights, least of all beams',
      depth: 'power of the shallowest null as a part of the beam, 0 without nulls',
    },
    text: ({ efficiency, depth }: { efficiency: number; depth: number }) =>
      `weights have at least ${percent(efficiency, 0)} of the squared signal-to-noise ratio of equal weights` +
      (depth > 0
        ? `; nulls are at ${(10 * Math.log10(depth)).toFixed(0).replace('-', '−')} dB or below`
        : ''),
    help: 'The depth is the largest at the ends of the time for which weights are the same, with all stations, as a mean over a channel. The description of the product has it for each beam.',
  }),
  'file.unknown-fact': declare({
    severity: 'note',
    data: { what: 'in words', fix: 'what states it' },
    text: ({ what, fix }: { what: string; fix: string }) => `unknown: ${what}; ${fix}`,
    help: 'Neither the file nor the command line states this. Nothing of the result depends on it, but later steps may need it.',
  }),
  'file.leftover': declare({
    severity: 'note',
    data: { path: 'the output', bytes: 'of the partial file' },
    text: ({ path, bytes }: { path: string; bytes: number }) =>
      `an earlier run was killed while it wrote ${path}; a partial file of ${formatBytes(bytes)} is there: ` +
      `corella recover ${path} makes a file of its finished integrations, with --remove it is deleted`,
    help: 'A killed run leaves a hidden file with the extension .part beside its output.',
  }),
  'sky.model-partly-read': declare({
    severity: 'note',
    data: { what: 'in words' },
    text: ({ what }: { what: string }) => what,
    help: 'Something in the file of the sky model was not used. The message states what and why.',
  }),
  'sky.orientation-unknown': declare({
    severity: 'warning',
    data: { what: 'in words' },
    text: ({ what }: { what: string }) => what,
    help: 'No table of the orientation of the Earth covers this date, so positions may be wrong by up to 14 arcseconds. eop: FILE reads a newer table of the IERS.',
  }),
  'sky.orbits-used': declare({
    severity: 'note',
    data: {
      satellites: 'how many were placed',
      leastAgeDays: 'from the epoch of the elements to the data, of the newest',
      mostAgeDays: 'the same of the oldest',
      paths: 'of the elements',
    },
    text: (used: {
      satellites: number;
      leastAgeDays: number;
      mostAgeDays: number;
      paths: readonly string[];
    }) =>
      `${count(used.satellites, 'satellite')} of ${used.paths.join(', ')}: elements ${used.leastAgeDays.toFixed(1)} to ` +
      `${used.mostAgeDays.toFixed(1)} days from the data`,
    help: 'Positions of satellites are as good as their elements are new.',
  }),
  'sky.orbits-old': declare({
    severity: 'warning',
    data: { satellites: 'their names' },
    text: ({ satellites }: { satellites: readonly string[] }) =>
      `elements of ${listed(satellites, 5)} are more than 3 days from the data (orbits below 2,000 km) or more than 30: ` +
      'the places of these satellites are uncertain',
    help: 'Air brakes low satellites, and all are manoeuvred. Fetch elements of the time of the data.',
  }),
  'sky.orbits-left-out': declare({
    severity: 'warning',
    data: { satellites: 'their names' },
    text: ({ satellites }: { satellites: readonly string[] }) =>
      `${count(satellites.length, 'satellite')} left out, for elements too old or orbits that had ended: ${listed(satellites, 5)}`,
    help: 'Elements more than 14 days from the data (orbits below 2,000 km) or 180 days are not used unless allowed with old-orbits: true.',
  }),
  'product.failed': declare({
    severity: 'error',
    data: { product: 'which', why: 'in words' },
    text: ({ product, why }: { product: string; why: string }) => `${product}: failed: ${why}`,
    help: 'One product of the observation could not be made. The others were, and the exit code is 2.',
  }),
  'option.renamed': declare({
    severity: 'warning',
    data: { from: 'the old spelling', to: 'the new spelling' },
    text: ({ from, to }: { from: string; to: string }) =>
      `${from} is called ${to} now; the old spelling works in this version only`,
    help: 'Change your scripts to the new spelling before you install the next version.',
  }),
} as const;
