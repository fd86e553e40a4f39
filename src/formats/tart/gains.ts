/**
 * A TART's own gains: an amplitude and a phase for each antenna, which calibrate as V_ij·G_i·G_j·exp(−i(φ_i − φ_j)). In
 * our convention, V_ij = g_i M_ij conj(g_j), they are g = exp(iφ)/G. Antennas with gain 0 are dead.
 */
import { gainsCA } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import type { Instant } from '../../core/instant.js';
import type { Telescope } from '../../telescope/telescope.js';
import type { GainsFile } from '../gains/gains.js';

export interface TartGains {
  readonly amplitudes: ArrayLike<number>;
  readonly phasesRad: ArrayLike<number>;
}

export function gainsFileFrom(
  path: string,
  telescope: Telescope,
  frequencyHz: number,
  time: Instant,
  { amplitudes, phasesRad }: TartGains,
): GainsFile {
  const antennas = telescope.stations.length;
  if (amplitudes.length !== antennas || phasesRad.length !== antennas)
    refuse(
      path,
      `has ${antennas} antennas, gains of ${amplitudes.length} and phases of ${phasesRad.length}`,
      'it is damaged',
    );
  const gains = new Float64Array(2 * antennas).fill(Number.NaN);
  const solved = new Uint8Array(antennas);
  for (let s = 0; s < antennas; s++) {
    const [amplitude, phase] = [amplitudes[s], phasesRad[s]];
    if (!(amplitude > 0) || !Number.isFinite(amplitude + phase)) continue;
    solved[s] = 1;
    gains[2 * s] = Math.cos(phase) / amplitude;
    gains[2 * s + 1] = Math.sin(phase) / amplitude;
  }
  return {
    telescope: telescope.name,
    stations: telescope.stations.map(({ name }) => name),
    polarisations: 1,
    frequenciesHz: Float64Array.of(frequencyHz),
    referenceStation: Math.max(0, solved.indexOf(1)),
    dataUnits: 'uncalibrated',
    fluxScale: 'relative',
    time,
    gains: gainsCA(gains, 1, antennas),
    solved,
    solutions: [],
    sources: [],
    history: [`${telescope.title}: the telescope's own gains`],
  };
}
