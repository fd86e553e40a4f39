/** Response of a channel to a tone swept across it, compared with the filter's formula. */
import { filterResponse, type FilterWindow } from '../../channelise/index.js';
import { linePlot } from '../../draw/index.js';
import { channelise } from '../engines.js';
import { atMost, reported, type Check, type Figure, type Plot, type Rig } from '../figure.js';
import { decibels, tones } from '../signals.js';

interface Filter {
  readonly name: string;
  readonly taps: number;
  readonly window: FilterWindow;
}

const filters: readonly Filter[] = [
  { name: 'T = 8, Hann', taps: 8, window: { kind: 'hann' } },
  { name: 'T = 16, Hann', taps: 16, window: { kind: 'hann' } },
  { name: 'T = 16, Kaiser 9', taps: 16, window: { kind: 'kaiser', beta: 9 } },
];
const CHANNELS = 32;
const STEPS_PER_CHANNEL = { quick: 64, full: 256 } as const;
const REACH_CHANNELS = 3;
/** Below this, rounding of single floats is visible in the comparison. */
const COMPARED_DB = -80;

export const shapeFigure: Figure = {
  name: 'shape',
  title: 'The shape of a channel',
  about:
    'A tone is moved in fine steps across a channel, float samples in and out. Widths at −3 dB and −53 dB, ripple, the level at the edge and the loudest response beyond 1.5 channels are read from the curve; the filter’s own transform is drawn beside it.',
  measure: async (rig) => {
    const checks: Check[] = [];
    const plots: Plot[] = [];
    for (const filter of filters) {
      const { found, plot } = await measureShape(rig, filter);
      checks.push(...found);
      plots.push(plot);
    }
    return { checks, plots };
  },
};

async function measureShape(
  { backend, quick }: Rig,
  { name, taps, window }: Filter,
): Promise<{ readonly found: Check[]; readonly plot: Plot }> {
  const steps = quick ? STEPS_PER_CHANNEL.quick : STEPS_PER_CHANNEL.full;
  const offsets = Array.from({ length: REACH_CHANNELS * steps + 1 }, (_, n) => n / steps);
  const samples = CHANNELS * (taps + 1);
  const {
    plan,
    spectra,
    samples: made,
  } = await channelise(
    backend,
    { channels: CHANNELS, taps, window, inputs: offsets.length, inputType: 'cf32', outputType: 'cf32' },
    tones(
      offsets.map((offset) => offset / CHANNELS),
      samples,
    ),
    samples,
  );
  // The channel at the band centre; tones are to its right.
  const row = (CHANNELS / 2) * offsets.length;
  const powers = offsets.map((_, a) => {
    const at = 2 * (row + a) * made;
    return spectra[at] ** 2 + spectra[at + 1] ** 2;
  });
  const levelsDb = powers.map((power) => decibels(power / powers[0]));
  const promise = filterResponse(plan);
  // Only at the computed points: interpolation between them is not accurate enough.
  const promised = new Map(
    Array.from(promise.curveOffsetChannels, (offset, n) => [offset.toFixed(9), promise.curveDb[n]]),
  );
  const errorDb = offsets.reduce((worst, offset, n) => {
    const wanted = promised.get(offset.toFixed(9)) ?? -Infinity;
    return wanted > COMPARED_DB ? Math.max(worst, Math.abs(levelsDb[n] - wanted)) : worst;
  }, 0);
  const wideDb = (db: number): number => 2 * firstBelow(offsets, levelsDb, db);
  const [at3, at53] = [wideDb(-3), wideDb(-53)];
  const inside = levelsDb.filter((_, n) => offsets[n] <= 0.25);
  const beyond = Math.max(...levelsDb.filter((_, n) => offsets[n] >= 1.5));
  return {
    found: [
      reported(`${name}: width at −3 dB`, at3, 'channels'),
      atMost(`${name}: width at −53 dB`, at53, 2 * at3, 'channels'),
      reported(`${name}: ripple over the inner half`, Math.max(...inside) - Math.min(...inside), 'dB'),
      reported(`${name}: loss at the edge`, -between(offsets, levelsDb, 0.5), 'dB'),
      atMost(`${name}: loudest beyond 1.5 channels`, beyond, -53, 'dB'),
      atMost(`${name}: measured against promised`, errorDb, 0.05, 'dB'),
    ],
    plot: {
      caption: `Response of a channel to a tone, ${name}: measured, and as the filter promises`,
      picture: linePlot({
        title: `A channel’s response, ${name}`,
        x: { label: 'tone from the channel’s centre (channels)', range: [0, REACH_CHANNELS] },
        y: { label: 'level (dB)', range: [-130, 5] },
        series: [
          { name: 'promised', x: promise.curveOffsetChannels, y: promise.curveDb, drawn: 'line' },
          { name: 'measured', x: offsets, y: levelsDb, drawn: 'dots', size: 1.6 },
        ],
      }),
    },
  };
}

/** Linear interpolation between the two points around a position. */
function between(x: ArrayLike<number>, y: ArrayLike<number>, place: number): number {
  let n = 0;
  while (n < x.length - 2 && x[n + 1] < place) n++;
  return y[n] + ((y[n + 1] - y[n]) * (place - x[n])) / (x[n + 1] - x[n]);
}

/** The first position where a curve falls below a level. */
function firstBelow(x: readonly number[], y: readonly number[], level: number): number {
  const n = y.findIndex((value) => value < level);
  if (n < 1) return NaN;
  return x[n - 1] + ((x[n] - x[n - 1]) * (level - y[n - 1])) / (y[n] - y[n - 1]);
}
