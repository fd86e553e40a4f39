/** Gains from satellites in the format of gain files, and as numbers. */
import { gainsCA } from '../core/axes.js';
import type { Instant } from '../core/instant.js';
import { DEGREES_PER_RADIAN } from '../core/units.js';
import type { GainsFile } from '../formats/index.js';
import { inputName, type Telescope } from '../telescope/telescope.js';
import type { GnssCalibration } from './calibrate.js';
import { L1_HZ } from './codes.js';

export function gainsOf(
  made: GnssCalibration,
  of: {
    readonly recording: { readonly polarisations: 1 | 2; readonly inputs: number };
    readonly telescope: Telescope;
    readonly time: Instant;
    readonly history: readonly string[];
  },
): GainsFile {
  const { recording, telescope } = of;
  const { gains, solved, reference } = made.solved;
  return {
    telescope: telescope.name,
    stations: telescope.stations.map(({ name }) => name),
    polarisations: recording.polarisations,
    frequenciesHz: Float64Array.of(L1_HZ),
    referenceStation: Math.floor(reference / recording.polarisations),
    dataUnits: 'uncalibrated',
    fluxScale: 'relative',
    time: of.time,
    gains: gainsCA(gains, 1, recording.inputs),
    solved,
    solutions: Array.from({ length: recording.polarisations }, (_, polarisation) => ({
      channel: 0,
      polarisation,
      iterations: 1,
      converged: true,
      residual: made.solved.rmsRad,
    })),
    sources: made.waves.map(({ prn }) => `GPS PRN ${prn}`),
    history: of.history,
  };
}

const degrees = (angle: number): number => angle * DEGREES_PER_RADIAN;

/** For JSON. */
export function gnssFacts(
  { search, acquired, waves, solved, positions: places, missingSamples, warnings }: GnssCalibration,
  telescope: Telescope,
  polarisations: 1 | 2,
  usedS: number,
): object {
  const nameOf = (input: number): string => inputName(telescope, input, polarisations);
  return {
    usedS,
    missingSamples,
    satellites: waves.map(({ prn, dopplerHz, codeStartSamples, eigenvalueRatio }, s) => ({
      prn,
      dopplerHz,
      codePhaseSamples: codeStartSamples,
      eigenvalueRatio,
      sigmas: acquired[s].sigmas,
      log10FalseAlarm: acquired[s].log10FalseAlarm,
      l: solved.satellites[s].l,
      m: solved.satellites[s].m,
      directionKnown: solved.satellites[s].isKnown,
      residualRmsDeg: degrees(solved.satellites[s].rmsRad),
      residualsDeg: Array.from(solved.residualsRad[s], (one) => (Number.isNaN(one) ? null : degrees(one))),
    })),
    strongestNotTaken: search.rejected && { prn: search.rejected.prn, sigmas: search.rejected.sigmas },
    phases: solved.phases,
    unknowns: solved.unknowns,
    residualRmsDeg: degrees(solved.rmsRad),
    tilt: solved.tilt,
    unsolved: Array.from(solved.solved.keys())
      .filter((a) => solved.solved[a] === 0)
      .map(nameOf),
    ...(places && {
      positions: {
        residualRmsDeg: degrees(places.rmsRad),
        antennas: places.antennas.map(({ input, offsetM, covarianceM2 }) => ({
          input: nameOf(input),
          offsetEastM: offsetM[0],
          offsetNorthM: offsetM[1],
          covarianceM2,
        })),
      },
    }),
    warnings,
  };
}
