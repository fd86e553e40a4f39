/** The loss from rounding spectra to 8 and 4 bits, compared with the theoretical integrals. */
import { elementsPerSpectra } from '../../core/axes.js';
import { highNibble, lowNibble } from '../../core/nibbles.js';
import { linePlot } from '../../draw/index.js';
import { channelise } from '../engines.js';
import { atMost, within, type Check, type Figure, type Plot, type Rig } from '../figure.js';
import { noise, voltagesOf } from '../signals.js';

const CHANNELS = 64;
const TAPS = 8;
const rails = { ci8: 127, ci4: 7 } as const;
/** Rms of a spectrum's real or imaginary part, in levels, and the required efficiency. */
const cases = [
  { type: 'ci8', level: 4, least: 0.99 },
  { type: 'ci8', level: 20, least: 0.995 },
  { type: 'ci4', level: 2, least: 0.96 },
  { type: 'ci4', level: 2.95, least: 0.97 },
] as const;

export const quantisationFigure: Figure = {
  name: 'quantisation',
  title: 'Rounding to 8 and 4 bits',
  about:
    'The same noise is channelised to floats and to integers. Efficiency is the square of their correlation, which is what rounding leaves of the signal over noise of a weak source; bias is how far the power of the integers is from that of the floats. Both must be what integrals over the Gaussian and the rounding’s staircase give.',
  measure: async (rig) => {
    const checks: Check[] = [];
    for (const one of cases) checks.push(...(await measureCase(rig, one)));
    return { checks, plots: [efficiencyCurve()] };
  },
};

async function measureCase(
  { backend, quick }: Rig,
  { type, level, least }: (typeof cases)[number],
): Promise<Check[]> {
  const spectra = quick ? 1024 : 16_384;
  const samples = CHANNELS * (spectra + TAPS - 1);
  const voltages = voltagesOf('cf32', 1, samples, noise(2 * samples, 1, `quantisation ${type} ${level}`));
  const options = { channels: CHANNELS, taps: TAPS, inputs: 1, inputType: 'cf32' } as const;
  const float = await channelise(backend, { ...options, outputType: 'cf32' }, voltages, samples);
  const gains = (typeof float.plan.gains === 'number' ? float.plan.gains : NaN) * level;
  const rounded = await channelise(backend, { ...options, outputType: type, gains }, voltages, samples);
  let [xy, xx, yy, n] = [0, 0, 0, 0];
  for (let at = 0; at < float.spectra.length / 2; at++) {
    const [re, im] =
      elementsPerSpectra(type) === 2
        ? [rounded.spectra[2 * at], rounded.spectra[2 * at + 1]]
        : [highNibble(rounded.spectra[at]), lowNibble(rounded.spectra[at])];
    const [u, v] = [level * float.spectra[2 * at], level * float.spectra[2 * at + 1]];
    xy += u * re + v * im;
    xx += u * u + v * v;
    yy += re * re + im * im;
    n += 2;
  }
  const efficiency = (xy * xy) / (xx * yy);
  const bias = yy / xx - 1;
  const theory = staircase(level, rails[type]);
  const name = `${type === 'ci8' ? 8 : 4} bits, ${level} levels rms`;
  // The loss scatters by about its own size over √n. Neighbouring spectra overlap a little: √2 more.
  const tolerance = 3 * Math.max((3 * (1 - theory.efficiency)) / Math.sqrt(n), 1e-6);
  return [
    within(`${name}: efficiency`, efficiency, least, 1),
    atMost(
      `${name}: efficiency from theory`,
      Math.abs(efficiency - theory.efficiency),
      Number(tolerance.toPrecision(2)),
    ),
    atMost(
      `${name}: power’s bias from theory (${(100 * theory.bias).toFixed(2)} %)`,
      100 * Math.abs(bias - theory.bias),
      Number((100 * 3 * biasScatter(level, rails[type]) * Math.sqrt(2 / n)).toPrecision(2)),
      '%',
    ),
  ];
}

/** E[x·q(x)], E[q²] of a Gaussian of rms σ through the quantiser, by its steps: exact except for erf. */
function staircase(sigma: number, rail: number): { readonly efficiency: number; readonly bias: number } {
  let cross = 0;
  let square = 0;
  for (let k = 1; k <= rail; k++) {
    const edge = (k - 0.5) / sigma;
    // Each step adds 1 to |q| beyond its edge, on both sides.
    cross += (2 * Math.exp(-(edge * edge) / 2)) / Math.sqrt(2 * Math.PI);
    square += (2 * k - 1) * tail(edge) * 2;
  }
  return { efficiency: cross ** 2 / square, bias: square / sigma ** 2 - 1 };
}

/** √ of the variance of (q² − (1 + bias)·x²)/σ²: the scatter of the power ratio of one number. */
function biasScatter(sigma: number, rail: number): number {
  const { bias } = staircase(sigma, rail);
  const steps = 20_000;
  let variance = 0;
  for (let n = 0; n < steps; n++) {
    const x = ((n + 0.5) / steps - 0.5) * 16;
    const level = Math.max(-rail, Math.min(rail, Math.round(sigma * x)));
    const off = (level / sigma) ** 2 - (1 + bias) * x * x;
    variance += ((off * off * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI)) * (16 / steps);
  }
  return Math.sqrt(variance);
}

/** The probability of a Gaussian above x: Simpson's rule over the relevant range. */
function tail(x: number): number {
  const steps = 400;
  const reach = 9;
  const h = reach / steps;
  const density = (y: number): number => Math.exp((-y * y) / 2) / Math.sqrt(2 * Math.PI);
  let sum = density(x) + density(x + reach);
  for (let n = 1; n < steps; n++) sum += density(x + n * h) * (n % 2 === 1 ? 4 : 2);
  return (sum * h) / 3;
}

function efficiencyCurve(): Plot {
  const levels = Array.from({ length: 80 }, (_, n) => 0.4 + n * 0.1);
  return {
    caption: 'Efficiency of rounding to 4 and 8 bits over the level of the noise, by theory',
    picture: linePlot({
      title: 'What rounding leaves of a weak signal',
      x: { label: 'rms of the spectra (levels)' },
      y: { label: 'efficiency', range: [0.8, 1.005] },
      legend: 'bottom-right',
      series: (['ci4', 'ci8'] as const).map((type) => ({
        name: type === 'ci4' ? '4 bits' : '8 bits',
        x: levels,
        y: levels.map((level) => staircase(level, rails[type]).efficiency),
      })),
    }),
  };
}
