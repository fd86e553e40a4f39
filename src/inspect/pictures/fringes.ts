/** The fringe view: a row of panels for each baseline, then closure phases, powers and spectra. */
import { DEGREES_PER_RADIAN, formatHz, withMinus } from '../../core/units.js';
import {
  drawPlot,
  pictureOf,
  type LinePlot,
  type Picture,
  type PlotSeries,
  type Shape,
} from '../../draw/index.js';
import type { BaselineFringe, Fringes } from '../fringes/numbers.js';
import { frequencyAxis, heading, timeAxis, TITLE_HEIGHT } from './parts.js';
import { inDb } from '../waterfall.js';

const WIDTH = 1760;
const LEFT = 100;
const PANEL = { width: 330, height: 150, across: 430, down: 240 } as const;
/** More points would overlap. */
const MOST_POINTS = 600;
const MOST_CURVES = 10;

export function fringePicture(fringes: Fringes, title: string): Picture {
  const { baselines, closures, powers, source, timesS, frequencyHz, startUtc } = fringes;
  const hasTimes = timesS.length > 1;
  const shapes: Shape[] = [];
  let top = TITLE_HEIGHT + 50;
  for (const one of baselines) {
    if (!one.amplitudes.some((value) => Number.isFinite(value))) continue;
    const plots = [...(hasTimes ? overTime(fringes, one) : []), ...lagPlot(one)];
    for (const [k, plot] of plots.entries())
      shapes.push(
        ...drawPlot(plot, { left: LEFT + k * PANEL.across, top, width: PANEL.width, height: PANEL.height }),
      );
    if (plots.length > 0) top += PANEL.down;
  }
  const wide = { width: 3 * PANEL.across + PANEL.width, height: 220 };
  const draw = (plot: LinePlot): void => {
    shapes.push(...drawPlot(plot, { left: LEFT, top, ...wide }));
    top += wide.height + 100;
  };
  const x = timeOf(fringes);
  if (hasTimes && closures.length > 0)
    draw({
      title: 'closure phase (0° for one point, whatever the gains)',
      x: x.axis,
      y: { label: 'phase (°)', range: [-180, 180] },
      legend: 'above',
      series: closures.slice(0, MOST_CURVES).map(({ name, product, phasesDeg, meanDeg, errorDeg }) => ({
        name: `${name} ${product} ${meanDeg.toFixed(1)}° ± ${errorDeg.toFixed(1)}°`,
        drawn: 'dots',
        ...thinned(x.values, phasesDeg),
      })),
    });
  const measured = powers.filter(({ spectrum }) => spectrum.some((one) => one > 0)).slice(0, MOST_CURVES * 2);
  if (hasTimes && measured.length > 0)
    draw({
      title: 'total power',
      x: x.axis,
      y: { label: 'of its median (dB)' },
      legend: 'above',
      series: measured.map(({ name, powers: over }) => ({
        name,
        ...thinned(x.values, relativeDb(over)),
      })),
    });
  if (measured.length > 0)
    draw({
      ...spectrumAxis(fringes),
      title: `mean spectrum${fringes.velocitiesKmPerS ? ' around 21 cm' : ''}`,
      y: { label: 'of its median (dB)' },
      legend: 'above',
      series: measured.map(({ name, spectrum }) => ({
        name,
        x: spectrumAxis(fringes).values,
        y: relativeDb(spectrum),
      })),
    });
  const of = source ? `; orange: the fringe of ${source.name}` : '';
  const caption = `${timesS.length} integrations from ${startUtc}, phases at ${formatHz(frequencyHz)}, fringes running${of}${closures.length > MOST_CURVES ? `; closure phases of the first ${MOST_CURVES} of ${closures.length} triangles` : ''}`;
  return pictureOf({ width: WIDTH, height: top }, [...heading(title, caption), ...shapes]);
}

/** Times in the axis's own unit. */
function timeOf({ timesS }: Fringes) {
  const last = timesS[timesS.length - 1];
  const axis = timeAxis(Math.max(last + timesS[0], 1e-6));
  const perSecond = axis.range[1] / Math.max(last + timesS[0], 1e-6);
  return { axis, values: timesS.map((one) => one * perSecond) };
}

function overTime(fringes: Fringes, one: BaselineFringe): LinePlot[] {
  const { axis, values } = timeOf(fringes);
  const { amplitudes, phasesDeg, expectedDeg, fit, product, lengthM } = one;
  const real = amplitudes.map((value, t) => value * Math.cos(phasesDeg[t] / DEGREES_PER_RADIAN));
  const expected =
    fit && expectedDeg?.map((degrees, t) => fit.envelope[t] * Math.cos(degrees / DEGREES_PER_RADIAN));
  const dashes = (name: string, y: Float64Array): PlotSeries => ({
    name,
    drawn: 'line',
    colour: EXPECTED,
    ...thinned(values, y),
  });
  const length = lengthM === undefined ? '' : `, ${lengthM.toFixed(2)} m`;
  return [
    {
      title: `${one.name} ${product}${length}: amplitude`,
      x: axis,
      y: { label: 'amplitude' },
      series: [{ name: 'observed', ...thinned(values, amplitudes) }],
    },
    {
      title: 'phase',
      x: axis,
      y: { label: 'phase (°)', range: [-180, 180] },
      series: [
        { name: 'observed', drawn: 'dots', unnamed: true, ...thinned(values, phasesDeg) },
        ...(expectedDeg
          ? [
              {
                name: 'expected',
                unnamed: true as const,
                drawn: 'dots' as const,
                size: 1,
                colour: EXPECTED,
                ...thinned(values, expectedDeg),
              },
            ]
          : []),
      ],
    },
    {
      title: fitWords(one),
      x: axis,
      y: { label: 'real part' },
      series: [
        { name: 'observed', unnamed: true, ...thinned(values, real) },
        ...(expected ? [{ ...dashes('expected', expected), unnamed: true as const }] : []),
      ],
    },
  ];
}

/** Vermilion, distinct from the blue of the first curve. */
const EXPECTED = 0xd55e00;

const fitWords = ({ fit, notFitted }: BaselineFringe): string =>
  fit
    ? `east ${millimetres(fit.eastM, fit.eastErrorM)}${fit.meridianM === undefined ? '' : `, meridian ${millimetres(fit.meridianM, fit.meridianErrorM ?? 0)}`} mm`
    : notFitted
      ? `fringe: ${NOT_FITTED[notFitted]}`
      : 'fringe';
/** With this many digits of its error. */
export function offset(value: number, error: number, digits = 2): string {
  const decimals = Math.min(9, Math.max(0, digits - 1 - Math.floor(Math.log10(error))));
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(decimals)} ± ${error.toFixed(decimals)}`;
}
const millimetres = (metres: number, error: number): string => offset(1e3 * metres, 1e3 * error, 1);

export const NOT_FITTED = {
  'no-fringe': 'none of the source found',
  'at-rim': 'no baseline near the described one fits',
  'too-short': 'scan too short to fit a baseline',
} as const;

function lagPlot({ lags }: BaselineFringe): LinePlot[] {
  if (!lags) return [];
  return [
    {
      title: `lag${lags.peakS === undefined ? ', no peak' : ` ${withMinus((1e9 * lags.peakS).toFixed(0))} ns`}`,
      x: { label: 'lag (µs)' },
      y: { label: 'amplitude' },
      series: [{ name: 'lag', x: lags.lagsS.map((one) => 1e6 * one), y: lags.amplitudes }],
    },
  ];
}

function spectrumAxis({ velocitiesKmPerS, frequenciesHz }: Fringes) {
  if (velocitiesKmPerS)
    return {
      values: velocitiesKmPerS,
      x: { label: 'radial velocity of hydrogen (km/s; radio convention, topocentric)' },
    };
  const { label, range } = frequencyAxis(frequenciesHz, 0);
  const [low, high] = [frequenciesHz[0], frequenciesHz[frequenciesHz.length - 1]];
  const scale = high > low ? (range[1] - range[0]) / (high - low) : 1;
  return { values: frequenciesHz.map((one) => range[0] + (one - low) * scale), x: { label } };
}

function relativeDb(values: Float64Array): Float64Array {
  const good = values.filter((one) => one > 0).sort();
  const middle = good[Math.floor(good.length / 2)] ?? 1;
  return values.map((one) => (one > 0 ? inDb(one / middle) : Number.NaN));
}

/** Every n-th point. */
function thinned(x: Float64Array, y: Float64Array): { readonly x: Float64Array; readonly y: Float64Array } {
  const step = Math.ceil(x.length / MOST_POINTS);
  const kept = (_: number, t: number): boolean => t % step === 0;
  return { x: x.filter(kept), y: y.filter(kept) };
}
