/** --over: gains of the whole band as fewer numbers, and whether the data bear that. */
import { formatInstant, type Instant } from '../../core/instant.js';
import { refuse } from '../../core/errors.js';
import { formatSeconds } from '../../core/units.js';
import {
  checkModel,
  MOST_UNEXPLAINED,
  type FittedDelay,
  type OverBand,
  shapedGains,
  SOME_LOST,
  type Misfit,
} from '../../stages/index.js';
import type { JudgedStretch } from './stretches.js';

export type ShapedStretch<One extends JudgedStretch> = One & {
  readonly delays: readonly FittedDelay[];
  readonly misfit?: Misfit;
};

/** What is told of it afterwards is of the gains that are written. */
export function shape<One extends JudgedStretch>(
  over: OverBand,
  one: One,
  frequenciesHz: Float64Array,
  channelWidthHz: number,
): ShapedStretch<One> {
  if (over === 'channel' || one.isLeftOut || !one.residualsOf || !one.calibration.solved.includes(1))
    return { ...one, delays: [] };
  const { calibration, delays, misfit } = shapedGains(over, one.calibration, one.residualsOf, frequenciesHz);
  const check = checkModel(one.integration, calibration, one.plan, channelWidthHz);
  return { ...one, calibration, delays, misfit, check };
}

const WORDS = {
  channel: { what: '', fix: '' },
  band: {
    what: 'one gain for the band',
    fix: 'take --over delay where cables differ in length, or leave --over out',
  },
  delay: {
    what: 'a size, a delay and a phase',
    fix: 'leave --over out: sizes or phases change over the band in another way',
  },
} as const;

const percent = (part: number): string => `${(100 * part).toFixed(part < 0.1 ? 1 : 0)} %`;

/** The time at which the shape fits least. */
const worstMisfit = (
  stretches: readonly (JudgedStretch & { readonly misfit?: Misfit })[],
): (Misfit & { readonly time: Instant }) | undefined =>
  stretches
    .flatMap(({ misfit, time }) => (misfit ? [{ ...misfit, time }] : []))
    .sort((a, b) => b.lost - a.lost)
    .at(0);

export function misfitFact(stretches: readonly (JudgedStretch & { readonly misfit?: Misfit })[]) {
  const worst = worstMisfit(stretches);
  return worst && { overMisfit: { free: worst.free, shaped: worst.shaped, lost: worst.lost } };
}

/** Refused where most is lost, unless accepted; told where the shape does not fit. */
export function shapeLines(
  over: OverBand,
  stretches: readonly (JudgedStretch & { readonly misfit?: Misfit })[],
  accept: boolean,
): string[] {
  const { what, fix } = WORDS[over];
  const worst = worstMisfit(stretches);
  const isUnexplained = stretches.some(({ misfit, check }) => misfit && check.unexplained > MOST_UNEXPLAINED);
  if (!worst || !(worst.lost > SOME_LOST || isUnexplained)) return [];
  const told =
    `${what} of each input leaves a residual of ${percent(worst.shaped)}, where a gain for each channel leaves ` +
    `${percent(worst.free)}${stretches.length > 1 ? `, at ${formatInstant(worst.time)}` : ''}`;
  if ((worst.lost > MOST_UNEXPLAINED || isUnexplained) && !accept)
    refuse(`--over ${over}`, told, `${fix}; --accept-model writes them all the same`);
  return [`--over ${over} does not fit: ${told}; ${fix}`];
}

/** Of its range, from where on a delay may as well be another's. */
const NEAR_EDGE = 0.9;

/** Delays are known up to whole turns between neighbouring channels: within which range, and who stands at its edge. */
export function delayRangeLines(delays: readonly (FittedDelay & { readonly name: string })[]): string[] {
  if (delays.length === 0) return [];
  const rangeS = delays.reduce((least, one) => Math.min(least, one.rangeS), Infinity);
  const near = delays.filter((one) => Math.abs(one.delayS) > NEAR_EDGE * one.rangeS);
  return [
    `delays are known within ±${formatSeconds(rangeS)}, half a turn from channel to channel: ` +
      `one beyond comes out ${formatSeconds(2 * rangeS)} off`,
    ...(near.length > 0
      ? [
          `${near.length} of ${delays.length} delays ${near.length === 1 ? 'lies' : 'lie'} near that edge (${near
            .slice(0, 6)
            .map(({ name }) => name)
            .join(', ')}${near.length > 6 ? ' …' : ''}), and may be beyond it: finer channels would tell`,
        ]
      : []),
  ];
}
