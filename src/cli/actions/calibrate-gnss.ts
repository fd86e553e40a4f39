/** What corella calibrate --gnss does, loaded when it runs. */
import { refuse } from '../../core/errors.js';
import { addSeconds, formatInstant, type Instant } from '../../core/instant.js';
import { DEGREES_PER_RADIAN } from '../../core/units.js';
import {
  gainPaths,
  openFile,
  writeFileWhole,
  writeGainFiles,
  type VoltageRecording,
  checkOutputs,
} from '../../formats/index.js';
import {
  calibrateByGnss,
  CHIP_RATE_HZ,
  directionsByOrbits,
  directionsOf,
  gainsOf,
  gnssFacts,
  satellitePicture,
  type GnssCalibration,
} from '../../gnss/index.js';
import { telescopeOf } from '../../observation/index.js';
import type { GnssOptions } from '../calibrate/gnss.js';
import { refuseUnknown } from '../open.js';
import { openOptions } from '../options/open-options.js';
import { namedAfter } from '../options/outputs.js';
import { history } from '../report/history.js';
import { openTerminal } from '../report/terminal.js';

/** The middle of the part that is used. */
const middleOf = (
  { start, samples, sampleRateHz }: Pick<VoltageRecording, 'start' | 'samples' | 'sampleRateHz'>,
  despreadS: number,
): Instant => addSeconds(start, Math.min(samples / sampleRateHz, despreadS) / 2);

export async function run(path: string, options: GnssOptions): Promise<void> {
  const outPath = options.out ?? namedAfter(path, '-gains.json');
  const paths = [...gainPaths(outPath), ...(options.picture === undefined ? [] : [options.picture])];
  await checkOutputs({ ...options, paths });
  const terminal = openTerminal(options);
  const recording = await openFile(path, await openOptions(options));
  try {
    if (recording.kind !== 'voltages')
      refuse(path, 'holds no voltages', 'give the recording that it was made from');
    refuseUnknown(recording);
    const telescope = await telescopeOf(recording, options.telescope);
    const asked = directionsOf(options.direction, '--direction');
    const byOrbits = directionsByOrbits(telescope, middleOf(recording, options.despread));
    const stage = terminal.stage('satellites');
    const made = await calibrateByGnss(recording, telescope, {
      durationS: options.despread,
      mostDopplerHz: options.doppler,
      directions: new Map([...byOrbits, ...asked]),
      asked: [...asked.keys()],
      positions: options.solvePositions === true ? 'solved' : 'given',
      onStep: stage.step,
    });
    const durationS = made.usedSamples / recording.sampleRateHz;
    const time = middleOf(recording, options.despread);
    const file = gainsOf(made, {
      recording,
      telescope,
      time,
      history: history({ from: recording, telescope }),
    });
    const { solved } = made.solved;
    await writeGainFiles(outPath, file, { telescope, channelWidthHz: 2 * CHIP_RATE_HZ, durationS });
    if (options.picture !== undefined)
      await writeFileWhole(options.picture, await satellitePicture(made, telescope, recording.polarisations));
    const seconds = stage.done();
    terminal.result(
      { path: outPath, paths, ...gnssFacts(made, telescope, recording.polarisations, durationS), seconds },
      [
        `${paths.join(', ')}: ${solved.reduce((sum, one) => sum + one, 0)} of ${recording.inputs} inputs, ${formatInstant(time, 3)}`,
        ...linesOf(made, durationS, recording.samples / recording.sampleRateHz),
      ],
    );
  } finally {
    await recording.close();
  }
}

const degrees = (angle: number): number => angle * DEGREES_PER_RADIAN;

function linesOf(
  { acquired, waves, solved, search, positions: places, missingSamples, warnings }: GnssCalibration,
  usedS: number,
  heldS: number,
): string[] {
  const row = (...cells: readonly string[]): string => cells.map((cell) => cell.padStart(10)).join('');
  return [
    `${(1e3 * usedS).toFixed(0)} of ${(1e3 * heldS).toFixed(0)} ms used${missingSamples > 0 ? `, ${missingSamples} samples missing` : ''}`,
    row('PRN', 'sigma', 'Doppler', 'code', 'east', 'north', 'residual'),
    ...waves.map(({ prn, dopplerHz, codeStartSamples }, s) => {
      const { l, m, rmsRad, isKnown } = solved.satellites[s];
      return `${row(
        String(prn),
        acquired[s].sigmas.toFixed(0),
        `${dopplerHz.toFixed(0)} Hz`,
        codeStartSamples.toFixed(1),
        l.toFixed(3),
        m.toFixed(3),
        `${degrees(rmsRad).toFixed(1)}°`,
      )}${isKnown ? '  known' : ''}`;
    }),
    `${solved.phases} phases fitted to ${degrees(solved.rmsRad).toFixed(1)}° rms by ${solved.unknowns} unknowns`,
    ...(search.rejected
      ? [
          `strongest below the threshold: PRN ${search.rejected.prn} at ${search.rejected.sigmas.toFixed(1)} sigma`,
        ]
      : []),
    ...(places
      ? [
          `positions: ${places.antennas.length} antennas, median shift ${(
            1e3 *
            places.antennas.map(({ offsetM }) => Math.hypot(...offsetM)).sort((x, y) => x - y)[
              Math.floor(places.antennas.length / 2)
            ]
          ).toFixed(1)} mm; --json lists them with their covariance`,
        ]
      : []),
    ...warnings,
  ];
}
