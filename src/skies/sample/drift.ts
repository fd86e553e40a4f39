/**
 * A drift scan of the Sun by two dishes on a roof: the correlated data of two receivers with one clock over three
 * hours, made in a second. The dish positions differ slightly from the tape measurement, and one cable is longer than
 * the other.
 */
import { baselineCount, baselineIndex, countsCB, visibilitiesCBPP } from '../../core/axes.js';
import { addSeconds, parseInstant } from '../../core/instant.js';
import { randomStream } from '../../core/random.js';
import { DEGREES_PER_RADIAN, SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { dot } from '../../core/vector.js';
import { visibilityFormatFor } from '../../formats/index.js';
import { frameAtMiddle, stationPositions } from '../../stages/index.js';
import { loadTelescope } from '../../telescope/load.js';

export const DRIFT = {
  start: '2026-06-21T10:10:00Z',
  everyS: 20,
  times: 540,
  channels: 32,
  bandHz: 2.4e6,
  /** Offset of the second dish from its description: east, north, up. */
  offM: { x: 0.06, y: -0.04, z: 0.03 },
  cableS: 35e-9,
  /** Fluxes of the Sun and of each dish's noise. */
  sunJy: 6e5,
  systemJy: 4e6,
  beamDeg: 15,
  /** Hydrogen of the Milky Way, relative to the noise of a dish. */
  hydrogen: { part: 0.03, restHz: 1_420_405_752, atKmPerS: -12, widthKmPerS: 40 },
} as const;

function lineAt(frequencyHz: number): number {
  const { part, restHz, atKmPerS, widthKmPerS } = DRIFT.hydrogen;
  const kmPerS = ((restHz - frequencyHz) / restHz) * (SPEED_OF_LIGHT_M_PER_S / 1e3);
  return part * Math.exp(-4 * Math.LN2 * ((kmPerS - atKmPerS) / widthKmPerS) ** 2);
}

/** Writes it in the format that the path's ending names. */
export async function recordDrift(
  path: string,
  telescopePath: string,
  history: readonly string[],
): Promise<void> {
  const telescope = await loadTelescope(telescopePath);
  const stations = telescope.stations.length;
  const baselines = baselineCount(stations);
  const { channels, bandHz, everyS, times } = DRIFT;
  const widthHz = bandHz / channels;
  const lowestHz = telescope.recording.centreFrequencyHz - bandHz / 2;
  const frequenciesHz = Float64Array.from({ length: channels }, (_, c) => lowestHz + c * widthHz);
  const positions = stationPositions(telescope).map((place, s) =>
    s === 1 ? { x: place.x + DRIFT.offM.x, y: place.y + DRIFT.offM.y, z: place.z + DRIFT.offM.z } : place,
  );
  const random = randomStream(7, 'drift');
  const frameAt = (t: number) =>
    frameAtMiddle(telescope, { start: addSeconds(parseInstant(DRIFT.start), everyS * t), durationS: everyS });
  // The dishes stay pointed at the Sun's position in the middle of the scan.
  const middle = frameAt(times / 2);
  const pointing = middle.directionEnu(middle.sun);
  const samples = everyS * widthHz;
  const writer = await visibilityFormatFor(path).createVisibilities(path, {
    telescope,
    polarisations: 1,
    frequenciesHz,
    channelWidthHz: widthHz,
    history,
    phaseCentre: middle.zenith,
    object: 'zenith',
  });
  try {
    for (let t = 0; t < times; t++) {
      const frame = frameAt(t);
      const sun = frame.directionEnu(frame.sun);
      const offDeg = Math.acos(Math.min(1, dot(sun, pointing))) * DEGREES_PER_RADIAN;
      const fluxJy = DRIFT.sunJy * Math.exp(-4 * Math.LN2 * (offDeg / DRIFT.beamDeg) ** 2);
      const values = new Float64Array(2 * channels * baselines);
      for (const [c, frequencyHz] of frequenciesHz.entries())
        for (let i = 0; i < stations; i++)
          for (let j = 0; j <= i; j++) {
            const at = 2 * (c * baselines + baselineIndex(i, j));
            const noise = DRIFT.systemJy / Math.sqrt(2 * samples);
            if (i === j) {
              values[at] = DRIFT.systemJy * (1 + lineAt(frequencyHz)) + fluxJy;
              values[at] += Math.SQRT2 * noise * random.gaussian();
              continue;
            }
            const early = dot(positions[i], sun) - dot(positions[j], sun);
            const lateS = (i === 1 ? DRIFT.cableS : 0) - (j === 1 ? DRIFT.cableS : 0);
            const angle = 2 * Math.PI * frequencyHz * (early / SPEED_OF_LIGHT_M_PER_S - lateS);
            values[at] = fluxJy * Math.cos(angle) + noise * random.gaussian();
            values[at + 1] = fluxJy * Math.sin(angle) + noise * random.gaussian();
          }
      await writer.append({
        start: addSeconds(parseInstant(DRIFT.start), everyS * t),
        durationS: everyS,
        channels,
        stations,
        polarisations: 1,
        flaggedInputs: new Uint8Array(stations),
        visibilities: visibilitiesCBPP(
          values.map((value) => value * samples),
          channels,
          baselines,
          1,
        ),
        counts: countsCB(new Float64Array(channels * baselines).fill(samples), channels, baselines),
      });
    }
    await writer.finish();
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}
