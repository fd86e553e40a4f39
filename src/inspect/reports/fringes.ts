/** Fringes as text and JSON. */
import type { Fringes } from '../fringes/numbers.js';
import { NOT_FITTED, offset } from '../pictures/fringes.js';
import type { ReportOptions } from './report.js';
import { line } from './text.js';

export const wantsFringes = ({ draw = [], fringeOf }: ReportOptions): boolean =>
  draw.includes('fringes') || fringeOf !== undefined;

/** NaN becomes null. */
const listOf = (values: ArrayLike<number>): (number | null)[] =>
  Array.from(values, (one) => (Number.isFinite(one) ? one : null));

export const fringeJson = (fringes: Fringes): object => ({
  startUtc: fringes.startUtc,
  timesS: listOf(fringes.timesS),
  frequencyHz: fringes.frequencyHz,
  frequenciesHz: listOf(fringes.frequenciesHz),
  velocitiesKmPerS: fringes.velocitiesKmPerS && listOf(fringes.velocitiesKmPerS),
  ...(fringes.source && {
    source: { name: fringes.source.name, altitudesDeg: listOf(fringes.source.altitudesDeg) },
  }),
  baselines: fringes.baselines.map(
    ({ stations, name, product, lengthM, amplitudes, phasesDeg, lags, expectedDeg, fit, notFitted }) => ({
      stations,
      name,
      product,
      lengthM,
      amplitudes: listOf(amplitudes),
      phasesDeg: listOf(phasesDeg),
      expectedDeg: expectedDeg && listOf(expectedDeg),
      ...(lags && {
        lags: { lagsS: listOf(lags.lagsS), amplitudes: listOf(lags.amplitudes), peakS: lags.peakS ?? null },
      }),
      ...(fit && {
        fit: {
          eastM: fit.eastM,
          eastErrorM: fit.eastErrorM,
          ...(fit.meridianM !== undefined && {
            meridianM: fit.meridianM,
            meridianErrorM: fit.meridianErrorM,
          }),
          covarianceM2: fit.covarianceM2,
          phaseDeg: fit.phaseDeg,
          phaseErrorDeg: fit.phaseErrorDeg,
          baselineM: [fit.baselineM.x, fit.baselineM.y, fit.baselineM.z],
          signalToNoise: fit.signalToNoise,
        },
      }),
      notFitted,
    }),
  ),
  closures: fringes.closures.map(({ phasesDeg, ...others }) => ({
    ...others,
    phasesDeg: listOf(phasesDeg),
  })),
  powers: fringes.powers.map(({ name, powers, spectrum }) => ({
    name,
    powers: listOf(powers),
    spectrum: listOf(spectrum),
  })),
});

const signed = (seconds: number): string =>
  `${seconds < 0 ? '−' : ''}${(1e9 * Math.abs(seconds)).toPrecision(3)} ns`;

const mean = (values: Float64Array): number => {
  const good = values.filter((one) => Number.isFinite(one));
  return good.reduce((sum, one) => sum + one, 0) / good.length;
};

export function fringeLines({ baselines, closures, source }: Fringes): string[] {
  return [
    ...(source ? [line('fringe of', source.name)] : []),
    ...baselines.flatMap(({ name, product, lengthM, amplitudes, lags, fit, notFitted }) => [
      line(
        name,
        [
          `${product}${lengthM === undefined ? '' : `, ${lengthM.toFixed(2)} m`}, mean amplitude ${mean(amplitudes).toPrecision(3)}`,
          ...(lags ? [lags.peakS === undefined ? 'no peak over lags' : `lag ${signed(lags.peakS)}`] : []),
          ...(notFitted ? [NOT_FITTED[notFitted]] : []),
        ].join('; '),
      ),
      ...(fit
        ? [
            line(
              '',
              `fitted: ${offset(fit.eastM, fit.eastErrorM)} m to the east, ${
                fit.meridianM === undefined
                  ? 'up the meridian undetermined'
                  : `${offset(fit.meridianM, fit.meridianErrorM ?? 0)} m up the meridian`
              }; S/N ${fit.signalToNoise.toFixed(0)}`,
            ),
          ]
        : []),
    ]),
    ...closures.map(({ name, product, meanDeg, errorDeg }) =>
      line('closure phase', `${name} ${product}: ${meanDeg.toFixed(1)}° ± ${errorDeg.toFixed(1)}°`),
    ),
  ];
}
