/** What rounding costs, told where it costs something or was chosen. */
import { outputRail, rounding } from '../../channelise/index.js';
import type { SpectraType } from '../../core/axes.js';
import { type Level, type InputLevels, LOOKED_AT, STRETCH, type Rounded } from '../../stages/index.js';

/** Beyond it the choice of a gain is nobody's concern. */
const GOOD = 0.99;
/** In levels: weaker than that, most numbers are 0. */
const WEAK = 1;

/** A pause that is worth a line. */
const FEW_SAMPLES = 1000;

const percent = (value: number): string => `${(100 * value).toFixed(1)} %`;
const levels = (rms: number): string => Number(rms.toPrecision(3)).toString();

export function levelLines(level: Level | undefined): string[] {
  if (!level) return [];
  const { inputRms, outputRms, weakestRms, efficiency, worstEfficiency, silentInputs, gain, follows } = level;
  const lines: string[] = [];
  if (inputRms === 0)
    return [
      `the first ${level.silentSamples} samples are silent: the gain is ${follows === 'told' ? 'as told' : 'the usual one'}, and nobody knows what rounding leaves; give front.gain, or front.bits: float`,
    ];
  if (follows === 'measured' || efficiency < GOOD)
    lines.push(
      `level: ${levels(inputRms)} rms in, ${levels(outputRms)} levels rms after a gain of ${Number(gain.toPrecision(4))}${
        follows === 'measured' ? ' (measured)' : follows === 'told' ? ' (told)' : ''
      }; rounding leaves ${percent(efficiency)} of a weak signal`,
    );
  if (weakestRms < WEAK)
    lines.push(
      `the weakest input has ${levels(weakestRms)} levels rms: rounding leaves it ${percent(worstEfficiency)} of a weak signal; give a larger front.gain, or front.bits: float`,
    );
  if (level.silentSamples > FEW_SAMPLES && follows === 'measured')
    lines.push(`silent for ${level.silentSamples} samples: the level is of what follows`);
  if (silentInputs > 0)
    lines.push(`${silentInputs} ${silentInputs === 1 ? 'input begins' : 'inputs begin'} silent`);
  return lines;
}

/** So far the rms may move in integrations, up or down, without a word. */
const MOVED = 1.25;

/** What was looked at, one by one. */
interface Stretches {
  readonly one: string;
  readonly many: string;
  readonly all: string;
}
const INTEGRATIONS: Stretches = { one: 'integration', many: 'integrations', all: 'throughout' };
export const STRETCHES_OF_SPECTRA: Stretches = {
  ...{ one: 'stretch of spectra', many: 'stretches of spectra' },
  all: `in all that was looked at, ${LOOKED_AT} of every ${STRETCH} spectra`,
};

/** What rounding met by the end, beside what was expected. */
export function roundedLines(
  rounded: Rounded | undefined,
  {
    level,
    levels: own,
    type,
    of = INTEGRATIONS,
    advice = 'front.equaliser: measured gives each a gain of its own, front.gain a larger one to all, front.bits: float needs none',
  }: {
    readonly level?: Level;
    readonly levels?: InputLevels;
    readonly type: SpectraType;
    readonly of?: Stretches;
    readonly advice?: string;
  },
): string[] {
  if (!rounded || type === 'cf32') return [];
  const { heard, weak, weakestRms, leastRms, mostRms, zeroInputs, zeroForATime } = rounded;
  const lines: string[] = [];
  if (weak > 0) {
    const left = weakestRms > 0 ? rounding(weakestRms, outputRail[type]).efficiency : 0;
    lines.push(
      `${weak} of ${heard} channels of inputs have less than one level rms in some ${of.one}; rounding leaves the weakest ${percent(left)} of a weak signal: ` +
        (own ? 'the levels do not fit, or changed; measure them anew, or take front.bits: float' : advice),
    );
  }
  const expected = own ? own.outputRms : level?.follows === 'measured' ? level.outputRms : undefined;
  // Eight bits have room, and beyond it they are weak or hit the rails.
  if (
    type === 'ci4' &&
    expected !== undefined &&
    (leastRms * MOVED < expected || mostRms > MOVED * expected)
  ) {
    const [least, most] = [levels(leastRms), levels(mostRms)];
    lines.push(
      `${of.many} have ${least === most ? '' : `${least} to `}${most} levels rms, where the first samples promised ${levels(expected)}: ` +
        'the level changed, or a carrier is cut off',
    );
  }
  if (zeroForATime > 0)
    lines.push(
      `${zeroForATime} ${zeroForATime === 1 ? 'input is' : 'inputs are'} zeros in some ${of.many}: silent, or too weak for the gain`,
    );
  if (level && zeroInputs > level.silentInputs)
    lines.push(
      `${zeroInputs} ${zeroInputs === 1 ? 'input is' : 'inputs are'} zeros ${of.all}: silent, or too weak for the gain`,
    );
  return lines;
}

export const roundedFacts = (rounded: Rounded | undefined): { readonly rounded?: Rounded } =>
  rounded ? { rounded } : {};

/** For machines, and for the files' history. */
export const levelFacts = (level: Level | undefined): { readonly level?: Level } => (level ? { level } : {});

export const spanOf = ({ factors }: InputLevels): { readonly least: number; readonly most: number } => ({
  least: factors.reduce((least, one) => Math.min(least, one), Infinity),
  most: factors.reduce((most, one) => Math.max(most, one), 0),
});

/** Equaliser gains, for people and for machines. */
export const levelsLines = (levels: InputLevels | undefined): string[] => {
  if (!levels) return [];
  const { least, most } = spanOf(levels);
  const { efficiency, silent = 0, from } = levels;
  return [
    `levels by input and channel, ${from}: ${numberText(least)} to ${numberText(most)} of the usual gain` +
      (efficiency === undefined
        ? ''
        : `; rounding leaves ${(100 * efficiency).toFixed(1)} % of a weak signal`),
    ...(silent > 0
      ? [
          `${silent} ${silent === 1 ? 'channel of an input is' : 'channels of inputs are'} silent at first: the median level of the input, or of the others, is theirs`,
        ]
      : []),
  ];
};

export const levelsFacts = (levels: InputLevels | undefined) =>
  levels
    ? {
        levels: {
          ...{ from: levels.from, ...spanOf(levels) },
          ...(levels.efficiency !== undefined && { efficiency: levels.efficiency }),
          ...(levels.silent !== undefined && { silent: levels.silent }),
        },
      }
    : {};

export const numberText = (value: number): string => Number(value.toPrecision(3)).toString();
