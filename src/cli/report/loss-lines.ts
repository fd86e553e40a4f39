/** What was missing from a recording, and what its frames had against them: nothing is lost silently. */
import { formatBytes, formatSeconds } from '../../core/units.js';
import { sampleRateOf, type EndsEarly, type FrameTally, type Recording } from '../../formats/index.js';

export function frameLines(tally: Readonly<FrameTally> | undefined): string[] {
  if (!tally) return [];
  const { invalid, late, doubled, outside, spareBytes } = tally;
  return [
    ...(invalid > 0 ? [`${invalid} frame${s(invalid)} marked invalid or damaged`] : []),
    ...(late > 0 ? [`${late} frame${s(late)} too late for ${late === 1 ? 'its' : 'their'} place`] : []),
    ...(doubled > 0 ? [`${doubled} frame${s(doubled)} there twice: the first one's samples are taken`] : []),
    ...(outside > 0 ? [`${outside} frame${s(outside)} outside the recording's time`] : []),
    ...(spareBytes > 0
      ? [`${formatBytes(spareBytes)} in no whole frame: the file is cut short, or damaged there`]
      : []),
  ];
}

export const earlyLine = (
  { said, promisedBytes, heldBytes, missingSamples }: EndsEarly,
  rateHz: number,
): string =>
  `${missingSamples} sample${s(missingSamples)} of each input (${formatSeconds(missingSamples / rateHz)}) before its header's ${said}: ` +
  `${formatBytes(heldBytes)} of ${formatBytes(promisedBytes)} are there; it was cut short, or the recording stopped`;

/** After a recording has been read to its end; `then` is what became of what was missing. */
export function lossLines(recording: Recording, missingSamples: number, then: string): string[] {
  const { tally, endsEarly, assumed = [] } = recording;
  return [
    ...assumed,
    ...(missingSamples > 0
      ? [
          `${missingSamples} sample${missingSamples === 1 ? ' was' : 's were'} missing, over all inputs${recording.kind === 'spectra' ? ' and channels' : ''}; ${then}`,
        ]
      : []),
    ...frameLines(tally),
    ...(endsEarly ? [`the file ends ${earlyLine(endsEarly, sampleRateOf(recording))}`] : []),
  ];
}

/** The same for machines. */
export const lossFacts = ({ tally, endsEarly, assumed }: Recording, missingSamples: number) => ({
  missingSamples,
  ...(tally && { frames: tally }),
  ...(endsEarly && { endsEarly }),
  ...(assumed && { assumed }),
});

/** More than this of all numbers on the rails bends what is made of them. */
const MUCH_CLIPPED = 0.01;

/** What requantising clipped: real and imaginary parts, of so many in all. */
export function railLines(saturated: number, numbers: number): string[] {
  if (saturated === 0) return [];
  const part = saturated / numbers;
  return [
    `${saturated} number${s(saturated)} hit the rails on requantising` +
      (part > MUCH_CLIPPED
        ? `, ${Number((100 * part).toPrecision(2))} % of all: give a lower front.gain, or front.bits: float`
        : ''),
  ];
}

const s = (count: number): string => (count === 1 ? '' : 's');
