/**
 * An hour of visibilities of a few point sources, by the formula of docs/conventions.md and with noise, made in a
 * second instead of days of correlating voltages. For trying weights, CLEAN and series.
 */
import { baselineCount, baselineIndex, countsCB, visibilitiesCBPP } from '../../core/axes.js';
import { modelVisibilities } from '../../calibrate/index.js';
import { addSeconds, parseInstant } from '../../core/instant.js';
import { randomStream } from '../../core/random.js';
import { visibilityFormatFor } from '../../formats/index.js';
import { selectStations } from '../../telescope/select.js';
import { loadTelescope } from '../../telescope/load.js';
import { frameAtMiddle, stationPositions } from '../../stages/index.js';

const FIELD = {
  telescope: 'mwa128',
  stations: 48,
  start: '2026-03-01T12:00:00Z',
  /** About 30° north of MWA's zenith in the middle of the hour. */
  centre: { raDeg: 98, decDeg: 2 },
  object: 'five points',
  /** Offsets from the centre. */
  sources: [
    { eastDeg: 0, northDeg: 0, fluxJy: 10 },
    { eastDeg: 1.2, northDeg: 0.9, fluxJy: 7 },
    { eastDeg: -1.5, northDeg: 0.4, fluxJy: 5 },
    { eastDeg: 0.7, northDeg: -1.4, fluxJy: 3 },
    { eastDeg: -0.4, northDeg: 1.6, fluxJy: 2 },
  ],
} as const;
const CHANNELS = 4;
const CHANNEL_WIDTH_HZ = 160e3;
const LOWEST_HZ = 150e6;
const TIMES = 20;
const EVERY_S = 180;
const INTEGRATION_S = 2;
/** Of the real and of the imaginary part of one visibility. */
const NOISE_JY = 3;
const POLARISATIONS = 2;

/** Writes it in the format that the path's ending names. */
export async function recordHour(path: string, history: readonly string[]): Promise<void> {
  const telescope = selectStations(await loadTelescope(FIELD.telescope), FIELD.stations);
  const stations = telescope.stations.length;
  const baselines = baselineCount(stations);
  const stationsM = stationPositions(telescope);
  const frequenciesHz = Float64Array.from({ length: CHANNELS }, (_, c) => LOWEST_HZ + c * CHANNEL_WIDTH_HZ);
  const { centre } = FIELD;
  const positions = FIELD.sources.map(({ eastDeg, northDeg }) => ({
    raDeg: centre.raDeg + eastDeg / Math.cos((centre.decDeg * Math.PI) / 180),
    decDeg: centre.decDeg + northDeg,
  }));
  const random = randomStream(5, 'hour');
  const writer = await visibilityFormatFor(path).createVisibilities(path, {
    telescope,
    polarisations: POLARISATIONS,
    frequenciesHz,
    channelWidthHz: CHANNEL_WIDTH_HZ,
    phaseCentre: centre,
    object: FIELD.object,
    history,
    units: 'Jy',
    feedFrame: 'sky',
  });
  try {
    for (let time = 0; time < TIMES; time++) {
      const start = addSeconds(parseInstant(FIELD.start), EVERY_S * time);
      const frame = frameAtMiddle(telescope, { start, durationS: INTEGRATION_S });
      const model = modelVisibilities({
        stationsM,
        frequenciesHz,
        polarisations: POLARISATIONS,
        components: FIELD.sources.map(({ fluxJy }, q) => ({
          directionEnu: frame.directionEnu(positions[q]),
          fluxJy: new Float64Array(CHANNELS).fill(fluxJy),
        })),
      });
      const values = Float64Array.from(
        { length: 2 * CHANNELS * baselines * POLARISATIONS ** 2 },
        () => NOISE_JY * random.gaussian(),
      );
      // The model has XX and YY only; XY and YX are between them in memory.
      for (let row = 0; row < CHANNELS * baselines; row++) {
        for (let p = 0; p < POLARISATIONS; p++) {
          const to = 2 * (row * POLARISATIONS ** 2 + p * (POLARISATIONS + 1));
          values[to] += model[2 * (row * POLARISATIONS + p)];
          values[to + 1] += model[2 * (row * POLARISATIONS + p) + 1];
        }
      }
      hermitianAutos(values, stations);
      await writer.append({
        start,
        durationS: INTEGRATION_S,
        channels: CHANNELS,
        stations,
        polarisations: POLARISATIONS,
        visibilities: visibilitiesCBPP(values, CHANNELS, baselines, POLARISATIONS),
        counts: countsCB(new Float64Array(CHANNELS * baselines).fill(1), CHANNELS, baselines),
        flaggedInputs: new Uint8Array(POLARISATIONS * stations),
      });
    }
    await writer.finish();
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}

/** values : [c][b][p][p] (re, im). For autocorrelations XX and YY are real, and YX is the conjugate of XY. */
export function hermitianAutos(values: Float64Array, stations: number): void {
  const perBaseline = 2 * POLARISATIONS ** 2;
  const channels = values.length / perBaseline / baselineCount(stations);
  for (let c = 0; c < channels; c++)
    for (let s = 0; s < stations; s++) {
      const [xx, xy, yx, yy] = [0, 2, 4, 6].map(
        (at) => (c * baselineCount(stations) + baselineIndex(s, s)) * perBaseline + at,
      );
      values[xx + 1] = values[yy + 1] = 0;
      values[yx] = values[xy];
      values[yx + 1] = -values[xy + 1];
    }
}
