/** `over`: gains over the whole band as fewer parameters, and whether the data allow that. */
import { percent } from '../../core/units.js';
import { refuse } from '../../core/errors.js';
import { formatInstant, type Instant } from '../../core/instant.js';
import {
  checkModel,
  MOST_UNEXPLAINED,
  type FittedDelay,
  type OverBand,
  shapedGains,
  SOME_LOST,
  type Misfit,
} from '../../stages/index.js';
import type { TestedInterval } from './intervals.js';

/** Result of applying `over` to a solution. */
export interface Shaped {
  readonly delays: readonly FittedDelay[];
  readonly misfit?: Misfit;
}

/** The check afterwards uses the gains that are written. */
export function shape<One extends TestedInterval>(
  over: OverBand,
  one: One,
  frequenciesHz: Float64Array,
  channelWidthHz: number,
): One & Shaped {
  if (over === 'channel' || one.isLeftOut || !one.residualsOf || !one.calibration.solved.includes(1))
    return { ...one, delays: [] };
  const { calibration, delays, misfit } = shapedGains(over, one.calibration, one.residualsOf, frequenciesHz);
  const check = checkModel(one.integration, calibration, one.plan, channelWidthHz);
  return { ...one, calibration, delays, misfit, check };
}

/** The fit of `over` at the time with the worst fit. */
export interface WorstMisfit extends Misfit {
  readonly over: Exclude<OverBand, 'channel'>;
  readonly time: Instant;
  /** Whether it is one of several times. */
  readonly isOfSeries: boolean;
  /** Whether the residual exceeds that of a good fit. */
  readonly isWarned: boolean;
}

/** Refused at the largest loss, unless accepted. */
export function misfitOf(
  over: OverBand,
  intervals: readonly (TestedInterval & Shaped)[],
  acceptance: 'accept' | 'refuse',
): WorstMisfit | undefined {
  const [worst] = intervals
    .flatMap(({ misfit, time }) => (misfit ? [{ ...misfit, time }] : []))
    .sort((a, b) => b.lost - a.lost) as readonly ((Misfit & { readonly time: Instant }) | undefined)[];
  if (!worst || over === 'channel') return undefined;
  const isUnexplained = intervals.some(({ misfit, check }) => misfit && check.unexplained > MOST_UNEXPLAINED);
  const isWarned = worst.lost > SOME_LOST || isUnexplained;
  const found = { ...worst, over, isOfSeries: intervals.length > 1, isWarned };
  if (isWarned && (worst.lost > MOST_UNEXPLAINED || isUnexplained) && acceptance === 'refuse') {
    const { what, fix } = misfitWords(found);
    refuse(
      `products.gains.over: ${over}`,
      what,
      `${fix}; products.gains.accept-model writes them all the same`,
    );
  }
  return found;
}

const WORDS = {
  band: {
    what: 'one gain for the band',
    fix: 'take products.gains.over: delay where cables differ in length, or leave it out',
  },
  delay: {
    what: 'a size, a delay and a phase',
    fix: 'leave products.gains.over out: sizes or phases change over the band in another way',
  },
} as const;

/** For a refusal, or a warning. */
export function misfitWords({ over, shaped, free, time, isOfSeries }: WorstMisfit): {
  readonly what: string;
  readonly fix: string;
} {
  const { what, fix } = WORDS[over];
  const inPercent = (part: number): string => percent(part, part < 0.1 ? 1 : 0);
  const left = `${what} of each input leaves a residual of ${inPercent(shaped)}, where a gain for each channel leaves ${inPercent(free)}`;
  return { what: `${left}${isOfSeries ? `, at ${formatInstant(time)}` : ''}`, fix };
}
