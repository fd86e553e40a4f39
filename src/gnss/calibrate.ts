/** Gains from a recording: search, refine, despread every input, solve. */
import { refuse } from '../core/errors.js';
import type { VoltageSource } from '../core/sources.js';
import { formatHz } from '../core/units.js';
import type { Vector3 } from '../core/vector.js';
import type { Telescope } from '../telescope/telescope.js';
import { refuseUnplaced } from '../telescope/unplaced.js';
import { CHIP_RATE_HZ, L1_HZ } from './codes.js';
import { prepareDespreader } from './correlate.js';
import { solvePositions, type SolvedPositions } from './positions.js';
import { refine } from './refine.js';
import { addToBins, bandOf, numberedBlocks, type Numbered } from './samples.js';
import { BINS, BIN_RATE_HZ, searchCodes, type Acquired, type Search } from './search.js';
import { solveInputs, type Cosines, type SolvedInputs } from './solve.js';
import { waveOf, type Wave } from './waves.js';

export interface GnssSettings {
  /** Duration of the recording that is used. */
  readonly durationS: number;
  readonly mostDopplerHz: number;
  /** Directions of satellites by PRN. */
  readonly directions: ReadonlyMap<number, Cosines>;
  /** Satellites among them that are reported if not found. */
  readonly asked?: readonly number[];
  readonly positions: 'solved' | 'given';
  readonly onStep?: (fraction: number, what: string) => void;
}

export interface GnssCalibration {
  readonly search: Search;
  readonly acquired: readonly Acquired[];
  readonly waves: readonly Wave[];
  readonly solved: SolvedInputs;
  readonly positions?: SolvedPositions;
  readonly usedSamples: number;
  /** Of all inputs together, within the time range used. */
  readonly missingSamples: number;
  readonly warnings: readonly string[];
}

const SEARCH_S = 10e-3;
const SEARCH_INPUTS = 4;
const BLOCK_SAMPLES = 2 ** 17;
const MAIN_LOBE_HZ = CHIP_RATE_HZ;

export async function calibrateByGnss(
  source: VoltageSource & { readonly path: string; readonly samples: number },
  telescope: Telescope,
  settings: GnssSettings,
): Promise<GnssCalibration> {
  const { path, sampleRateHz } = source;
  refuseUnplaced(path, telescope, 'directions of satellites do not determine them');
  const [lowHz, highHz] = bandOf(source);
  if (!(L1_HZ > lowHz && L1_HZ < highHz))
    refuse(
      path,
      `its band, ${formatHz(lowHz)} to ${formatHz(highHz)}, does not hold GPS L1 at ${formatHz(L1_HZ)}`,
      'give a recording of it; or, if the band is another, give source.frequency',
    );
  const cut = Math.min(highHz - L1_HZ, L1_HZ - lowHz);
  const warnings =
    cut < MAIN_LOBE_HZ / 2 ? [`the band ends ${formatHz(cut)} from GPS L1: part of the signal is lost`] : [];
  const usedSamples = Math.min(source.samples, Math.floor(settings.durationS * sampleRateHz));
  const searchSamples = Math.min(usedSamples, Math.floor(SEARCH_S * sampleRateHz));
  const milliseconds = Math.floor(((searchSamples / sampleRateHz) * BIN_RATE_HZ) / BINS);
  if (milliseconds < 1)
    refuse(
      path,
      `holds ${((1e3 * searchSamples) / sampleRateHz).toFixed(2)} ms`,
      'a code lasts 1 ms: give more',
    );
  const step = settings.onStep ?? (() => undefined);

  const inputs = spread(source.inputs, SEARCH_INPUTS);
  const bins = inputs.map(() => new Float64Array(2 * BINS * milliseconds));
  const held: Numbered[] = [];
  for await (const { block, first } of numberedBlocks(source, BLOCK_SAMPLES, searchSamples)) {
    addToBins(block, first, source, inputs, bins);
    // A reader's block is valid only until the next one.
    held.push({ block: { ...block, voltages: block.voltages.slice() as typeof block.voltages }, first });
  }
  const search = searchCodes(bins, settings.mostDopplerHz, (fraction) => {
    step(0.6 * fraction, 'search');
  });
  if (search.found.length === 0) refuseNone(path, search);
  const replicas = search.found.map((one) => refine(one, source, inputs, held, searchSamples));

  const all = Array.from({ length: source.inputs }, (_, a) => a);
  const despreader = prepareDespreader(replicas, source, all, usedSamples);
  let missingSamples = 0;
  for await (const { block, first } of numberedBlocks(source, BLOCK_SAMPLES, usedSamples)) {
    for (const { firstInput, endInput, firstSample, endSample } of block.gaps)
      missingSamples +=
        (endInput - firstInput) * Math.max(0, Math.min(endSample, usedSamples - first) - firstSample);
    despreader.add(block, first);
    step(0.65 + (0.3 * first) / usedSamples, 'despread');
  }
  const waves = despreader.satellites.map((one) => waveOf(one, source.inputs));
  const positions = all.map((a): Vector3 => {
    const { eastM, northM, upM } = telescope.stations[Math.floor(a / source.polarisations)];
    return { x: eastM, y: northM, z: upM };
  });
  const stranger = (settings.asked ?? [...settings.directions.keys()]).find(
    (prn) => !waves.some((wave) => wave.prn === prn),
  );
  const solved = solveInputs(waves, positions, settings.directions);
  return {
    search,
    acquired: search.found,
    waves,
    solved,
    usedSamples,
    missingSamples,
    ...(settings.positions === 'solved' && { positions: solvePositions(waves, positions, solved) }),
    warnings: [
      ...warnings,
      ...(stranger === undefined ? [] : [`a direction is given of PRN ${stranger}, which was not found`]),
      ...(solved.tilt === 'undetermined'
        ? [
            'no direction is known: a common tilt of the sky is undetermined; satellites are centred on the zenith',
            ...(source.inputs < FEW_INPUTS
              ? [
                  `${source.inputs} inputs and no known direction: a satellite may have been placed in a sidelobe; give two directions`,
                ]
              : []),
          ]
        : []),
    ],
  };
}

function refuseNone(path: string, { rejected }: Search): never {
  const strongest =
    rejected &&
    `; the strongest is PRN ${rejected.prn} at ${rejected.sigmas.toFixed(1)} times the noise's spread`;
  return refuse(
    path,
    `no GPS satellite was found in it${strongest ?? ''}`,
    'check its frequency, its sample rate, its sideband and the order of its bits',
  );
}

/** With fewer antennas, sidelobes are nearly as high as the satellite itself. */
const FEW_INPUTS = 12;

/** Evenly distributed over all. */
const spread = (total: number, count: number): number[] =>
  Array.from({ length: Math.min(total, count) }, (_, k) => Math.floor((k * total) / Math.min(total, count)));
