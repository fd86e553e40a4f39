/** The cost of rounding, reported if significant or chosen. */
import { present } from '../../core/present.js';
import { outputRail, rounding } from '../../channelise/index.js';
import type { SpectraType } from '../../core/axes.js';
import { message, type Message } from '../../messages/index.js';
import { type Level, type EqualiserGains, LOOKED_AT, RANGE, type Rounded } from '../../stages/index.js';

/** Above this efficiency the choice of a gain does not matter. */
const GOOD = 0.99;
/** In levels: for weaker signals most samples are 0. */
const WEAK = 1;

/** Gaps shorter than this are not reported. */
const FEW_SAMPLES = 1000;

export function levelLines(level: Level | undefined): Message[] {
  if (!level) return [];
  const { inputRms, outputRms, weakestRms, efficiency, worstEfficiency, silentInputs, silentSamples } = level;
  const { gain, follows } = level;
  if (inputRms === 0)
    return [message('level.silent-start', { samples: silentSamples, isGiven: follows === 'given' })];
  return present(
    (follows === 'measured' || efficiency < GOOD) &&
      message('level.gain', { inputRms, outputRms, gain, follows, efficiency }),
    weakestRms < WEAK && message('level.weak-input', { rms: weakestRms, efficiency: worstEfficiency }),
    silentSamples > FEW_SAMPLES &&
      follows === 'measured' &&
      message('level.silent-samples', { samples: silentSamples }),
    silentInputs > 0 && message('level.silent-inputs', { inputs: silentInputs }),
  );
}

/** Changes of the rms between integrations up to this factor are not reported. */
const MOVED = 1.25;

/** Names of the time ranges that were measured. */
interface RangeWords {
  readonly one: string;
  readonly many: string;
  readonly all: string;
}
const INTEGRATIONS: RangeWords = { one: 'integration', many: 'integrations', all: 'throughout' };
export const RANGES_OF_SPECTRA: RangeWords = {
  one: 'range of spectra',
  many: 'ranges of spectra',
  all: `in all that was looked at, ${LOOKED_AT} of every ${RANGE} spectra`,
};

/** Rounding statistics at the end, compared with the expected ones. */
export function roundedLines(
  rounded: Rounded | undefined,
  {
    level,
    levels: own,
    type,
    of = INTEGRATIONS,
    advice = 'front.equaliser: measured gives each its own gain, front.gain sets a larger one for all, front.bits: float needs none',
  }: {
    readonly level?: Level;
    readonly levels?: EqualiserGains;
    readonly type: SpectraType;
    readonly of?: RangeWords;
    readonly advice?: string;
  },
): Message[] {
  if (!rounded || type === 'cf32') return [];
  const { withSignal, weak, weakestRms, leastRms, mostRms, zeroInputs, zeroForATime } = rounded;
  const lines: Message[] = [];
  if (weak > 0)
    lines.push(
      message('level.rounded-weak', {
        weak,
        of: withSignal,
        unit: of.one,
        efficiency: weakestRms > 0 ? rounding(weakestRms, outputRail[type]).efficiency : 0,
        advice: own
          ? 'the levels do not fit, or changed; measure them again, or use front.bits: float'
          : advice,
      }),
    );
  const expectedRms = own ? own.outputRms : level?.follows === 'measured' ? level.outputRms : undefined;
  // Eight bits have some margin; beyond it signals are weak or saturate.
  if (
    type === 'ci4' &&
    expectedRms !== undefined &&
    (leastRms * MOVED < expectedRms || mostRms > MOVED * expectedRms)
  )
    lines.push(message('level.changed', { leastRms, mostRms, expectedRms, units: of.many }));
  if (zeroForATime > 0) lines.push(message('level.zero-sometimes', { inputs: zeroForATime, units: of.many }));
  if (level && zeroInputs > level.silentInputs)
    lines.push(message('level.zero-always', { inputs: zeroInputs, where: of.all }));
  return lines;
}

export const roundedFacts = (rounded: Rounded | undefined): { readonly rounded?: Rounded } =>
  rounded ? { rounded } : {};

/** As JSON, and for the files' history. */
export const levelFacts = (level: Level | undefined): { readonly level?: Level } => (level ? { level } : {});

const spanOf = ({ factors }: EqualiserGains): { readonly least: number; readonly most: number } => ({
  least: factors.reduce((least, one) => Math.min(least, one), Infinity),
  most: factors.reduce((most, one) => Math.max(most, one), 0),
});

/** Equaliser gains as text. */
export const equaliserLines = (levels: EqualiserGains | undefined): Message[] => {
  if (!levels) return [];
  const { efficiency, silent = 0, from } = levels;
  return present(
    message('level.equaliser', { from, ...spanOf(levels), efficiency }),
    silent > 0 && message('level.equaliser-silent', { channels: silent }),
  );
};

export const equaliserFacts = (levels: EqualiserGains | undefined) =>
  levels
    ? {
        levels: {
          from: levels.from,
          ...spanOf(levels),
          efficiency: levels.efficiency,
          silent: levels.silent,
        },
      }
    : {};
