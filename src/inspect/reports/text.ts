/** Lines of inspect's reports. */
import type { SpectraGap } from '../../core/gaps.js';
import { formatInstant } from '../../core/instant.js';
import { formatHz, formatSeconds, percent, withMinus } from '../../core/units.js';
import { textOf } from '../../messages/index.js';
import { isUnknown, type Recording, sampleRateOf, type VisibilityFile } from '../../formats/index.js';
import { inputName } from '../../telescope/telescope.js';
import type { FileDescription } from '../inspect.js';
import type { VisibilityLook } from '../visibilities.js';
import type { FirstValue, Look } from '../voltages.js';
import { orientationLines, earlyMessage, frameLines } from '../../products/report/index.js';

export const line = (name: string, value: string): string => `${name.padEnd(14)} ${value}`;
/** "3 inputs: a, b, c", the first dozen by name. */
export const nameList = (names: readonly string[], none: string): string =>
  names.length === 0
    ? none
    : `${names.length} input${names.length === 1 ? '' : 's'}: ${names.slice(0, 12).join(', ')}${names.length > 12 ? ' …' : ''}`;
export const numbersText = (count: number): string => `${count} number${count === 1 ? '' : 's'}`;
export function factLines(facts: FileDescription): string[] {
  const { telescope } = facts;
  return [
    line('file', facts.path),
    line('format', `${facts.format}, ${facts.kind}`),
    ...(telescope
      ? [
          line('telescope', `${telescope.name}: ${telescope.title}`),
          line(
            'site',
            `latitude ${degrees(telescope.site.latitudeDeg)}, longitude ${degrees(telescope.site.longitudeDeg)}, ${withMinus(telescope.site.heightM.toFixed(1))} m`,
          ),
        ]
      : []),
    line(
      'inputs',
      `${facts.inputs} (${facts.stations} station${facts.stations === 1 ? '' : 's'} × ${facts.polarisations})`,
    ),
    ...(facts.type === undefined
      ? []
      : [
          line(
            'samples',
            `${facts.samples} of ${facts.bits} bits (${facts.type}), ${formatHz(facts.rateHz ?? 0)}`,
          ),
        ]),
    ...(facts.channels === undefined
      ? []
      : [line('channels', `${facts.channels} of ${formatHz(facts.channelWidthHz ?? 0)}`)]),
    line('frequencies', band(facts)),
    ...(facts.start === undefined
      ? []
      : [
          line(
            'start',
            isUnknown(facts, 'start') ? 'not known (give source.start)' : formatInstant(facts.start, 9),
          ),
        ]),
    ...(facts.durationS === undefined ? [] : [line('duration', formatSeconds(facts.durationS))]),
    ...(facts.integrations === undefined ? [] : [line('integrations', String(facts.integrations))]),
    ...(facts.phaseCentre === undefined
      ? []
      : [
          line(
            'phase centre',
            `${facts.object}, right ascension ${degrees(facts.phaseCentre.raDeg)}, declination ${degrees(facts.phaseCentre.decDeg)}`,
          ),
        ]),
  ];
}

const degrees = (value: number): string => `${withMinus(value.toFixed(4))}°`;

/** Enough digits to distinguish neighbouring channels. */
function band({ lowestHz, highestHz, channels, channelWidthHz, unknownFacts }: FileDescription): string {
  const most = Math.max(Math.abs(lowestHz), Math.abs(highestHz));
  const finest = channelWidthHz ?? highestHz - lowestHz;
  const digits = Math.min(15, Math.max(6, Math.ceil(Math.log10(most / finest)) + 2));
  return (
    (channels === 1
      ? formatHz(lowestHz, digits)
      : `${formatHz(lowestHz, digits)} to ${formatHz(highestHz, digits)}`) +
    (isUnknown({ unknownFacts }, 'frequency') ? ' (counted from 0: give source.frequency for the sky)' : '')
  );
}

/** For text; JSON has every digit. */
const short = (value: number, digits = 7): string => String(Number(value.toPrecision(digits)));
/** Three complex numbers of five digits and their names fit in 80 columns. */
const VALUE_DIGITS = 5;

/** null means missing. */
type ShownValue = FirstValue | 'flagged' | null;

const valueText = (value: ShownValue): string => {
  if (value === null) return 'missing';
  if (value === 'flagged') return value;
  if (typeof value === 'number') return short(value, VALUE_DIGITS);
  const im = short(Math.abs(value.im), VALUE_DIGITS);
  return `${short(value.re, VALUE_DIGITS)}${value.im < 0 ? '-' : '+'}${im}i`;
};

const SHOWN = 3;

/** Rows below each other, the first beside the title. */
export const rowLines = (title: string, rows: readonly (readonly [string, readonly ShownValue[]])[]) =>
  rows.map(([name, values], k) =>
    line(k === 0 ? title : '', `${name}: ${values.slice(0, SHOWN).map(valueText).join('  ')}`),
  );

export function lookLines(file: Recording, look: Look, utc: (sample: number) => string): string[] {
  const { missing, clipped, frames } = look;
  const gap = (one: SpectraGap): string =>
    `input${one.endInput - one.firstInput === 1 ? ` ${one.firstInput}` : `s ${one.firstInput} to ${one.endInput - 1}`}` +
    (file.kind === 'spectra' ? `, channels ${one.firstChannel} to ${one.endChannel - 1}` : '') +
    `, samples ${one.firstSample} to ${one.endSample - 1} (from ${utc(one.firstSample)})`;
  return [
    ...(file.assumed ?? []).map((text, k) => line(k === 0 ? 'assumed' : '', text)),
    line(
      'read',
      look.extent === 'whole'
        ? 'the whole recording'
        : `the first ${look.samples} samples (--whole reads all)`,
    ),
    ...(frames && look.extent === 'whole'
      ? [`${frames.frames} good`, ...frameLines(frames)].map((one, k) =>
          line(k === 0 ? 'frames' : '', textOf(one)),
        )
      : []),
    ...(look.rms === undefined ? [] : [line('rms', Number(look.rms.toPrecision(4)).toString())]),
    ...(clipped === undefined
      ? []
      : [
          line(
            'clipped',
            clipped.numbers === 0 ? 'none' : `${numbersText(clipped.numbers)}, ${percent(clipped.fraction)}`,
          ),
        ]),
    line(
      'missing',
      missing.samples === 0
        ? 'none'
        : `${missing.samples} samples over all inputs, ${percent(missing.fraction)}, in ${missing.gaps} gap${missing.gaps === 1 ? '' : 's'}`,
    ),
    ...missing.first.slice(0, 4).map((one) => line('', gap(one))),
    ...(missing.gaps > 4 ? [line('', 'and more')] : []),
    ...(file.endsEarly ? [line('ends early', earlyMessage(file.endsEarly, sampleRateOf(file)).text)] : []),
  ];
}

const lengthText = (durationS: number, range: VisibilityLook['durationRangeS']): string =>
  formatSeconds(durationS) + (range ? ` (${formatSeconds(range[0])} to ${formatSeconds(range[1])})` : '');

export function visibilityLines(file: VisibilityFile, look: VisibilityLook): string[] {
  const { start, durationS, durationRangeS, flaggedInputs, absentInputs, missing, flagged, counts } = look;
  const { polarisations, feeds } = file.header;
  const namesOf = (inputs: readonly number[]): string[] =>
    inputs.map((a) => inputName(file.telescope, a, polarisations, feeds));
  const isWhole = look.extent === 'whole';
  // If only one integration of the file was read.
  const within = isWhole ? '' : ' (in the first integration)';
  return [
    ...(start === undefined ? [] : [line('start', formatInstant(start, 9))]),
    ...(durationS === undefined ? [] : [line('integration', lengthText(durationS, durationRangeS))]),
    line('units', file.header.units ?? 'unspecified'),
    ...[...(file.assumed ?? []), ...orientationLines(file.header)].map((one, k) =>
      line(k === 0 ? 'assumed' : '', textOf(one)),
    ),
    line('read', isWhole ? 'every integration' : 'the first integration (--whole reads all)'),
    line('flagged', nameList(namesOf(flaggedInputs), 'no input') + (flaggedInputs.length > 0 ? within : '')),
    ...(absentInputs.length > 0 ? [line('no rows of', nameList(namesOf(absentInputs), '') + within)] : []),
    line(
      'no weight',
      missing.values === 0
        ? 'none'
        : `${percent(missing.fraction)} of all pairs and products: ${percent(flagged.fraction)} flagged, ` +
            `${percent(missing.fraction - flagged.fraction)} missing`,
    ),
    ...(counts === undefined
      ? []
      : [
          line(
            'weights',
            counts[0] === counts[1] ? short(counts[0]) : `${short(counts[0])} to ${short(counts[1])}`,
          ),
        ]),
  ];
}
