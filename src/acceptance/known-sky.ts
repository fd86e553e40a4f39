/**
 * Visibilities made directly from the formulae of docs/conventions.md, independent of the simulator and the chain:
 * sources at altitude and azimuth with all Stokes parameters, a Jones matrix for each station, noise.
 */
import { visibilitiesCBPP, countsCB } from '../core/axes.js';
import { addSeconds, parseInstant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { visibilityFormatFor } from '../formats/index.js';
import { directionFromAltAz, skyFrame, type SkyPosition } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';

export interface KnownSource {
  readonly altDeg: number;
  readonly azDeg: number;
  /** Apparent, in Jy: XX = x·x(I − Q) and so on, with the voltages x and y of the element's beam, 1 by default. */
  readonly stokes: readonly [i: number, q: number, u: number, v: number];
  readonly beam?: (frequencyHz: number) => readonly [x: number, y: number];
  /** Full width at half maximum of a round Gaussian. */
  readonly widthDeg?: number;
}

/** (re, im) of each. */
export type Complex = readonly [re: number, im: number];
export type Jones = readonly [xx: Complex, xy: Complex, yx: Complex, yy: Complex];

export interface KnownSky {
  readonly stations: number;
  /** Radius of the field of stations. */
  readonly radiusM: number;
  readonly frequenciesHz: readonly number[];
  readonly sources: readonly KnownSource[];
  /** Jones matrix of the station for (X, Y): unity by default. */
  readonly jones?: (station: number, channel: number) => Jones;
  /** Rms of each part of each product, Jy. */
  readonly noiseJy?: number;
  readonly telescope?: Partial<Telescope>;
  readonly seed?: number;
  /** Tracked direction, by altitude and azimuth at the start; the zenith by default. */
  readonly towards?: readonly [altDeg: number, azDeg: number];
  /** Unit in the file; absent by default. */
  readonly unit?: 'Jy';
  /** Successive integrations of 2 s with the sky fixed over the ground; 1 by default. */
  readonly times?: number;
  /** Interference added to a product of stations i ≥ j, Jy. */
  readonly added?: (
    time: number,
    channel: number,
    pair: readonly [i: number, j: number],
    product: readonly [pi: number, pj: number],
  ) => Complex;
}

const C_M_PER_S = 299_792_458;
const START = parseInstant('2026-03-01T12:00:00Z', 'known sky');
const RADIANS = Math.PI / 180;

export function knownTelescope({
  stations,
  radiusM,
  frequenciesHz,
  telescope,
  seed = 5,
}: KnownSky): Telescope {
  const random = randomStream(seed, 'places');
  const part = (): number => random.below(2 ** 24) / 2 ** 24;
  return {
    name: 'known',
    title: 'stations in a field',
    polarisations: 2,
    beamExponent: 0,
    site: { latitudeDeg: -26.7, longitudeDeg: 116.67, heightM: 360 },
    stations: Array.from({ length: stations }, (_, s) => {
      const [r, turn] = [radiusM * Math.sqrt(part()), 2 * Math.PI * part()];
      return { name: `s${s}`, eastM: r * Math.cos(turn), northM: r * Math.sin(turn), upM: 0 };
    }),
    band: { lowHz: 30e6, highHz: 2e9 },
    recording: { centreFrequencyHz: frequenciesHz[0], sampleRateHz: 1e6, channels: 8, bits: 8 },
    ...telescope,
  };
}

const times = ([a, b]: Complex, [c, d]: Complex): Complex => [a * c - b * d, a * d + b * c];
const plus = ([a, b]: Complex, [c, d]: Complex): Complex => [a + c, b + d];
const conj = ([a, b]: Complex): Complex => [a, -b];

/** Writes integrations of 2 s; returns their telescope. */
export async function writeKnownSky(path: string, sky: KnownSky): Promise<Telescope> {
  const { frequenciesHz, sources, noiseJy = 0, jones } = sky;
  const telescope = knownTelescope(sky);
  const places = telescope.stations;
  const channels = frequenciesHz.length;
  const baselines = (places.length * (places.length + 1)) / 2;
  const random = randomStream(sky.seed ?? 5, 'noise');
  const one: Jones = [[1, 0], [0, 0], [0, 0], [1, 0]]; // prettier-ignore
  const format = visibilityFormatFor(path);
  const writer = await format.createVisibilities(path, {
    telescope,
    polarisations: 2,
    frequenciesHz: Float64Array.from(frequenciesHz),
    channelWidthHz: 1e5,
    units: sky.unit,
    object: 'zenith',
    history: [],
    phaseCentre: followedBy(sky, telescope),
    feedFrame: 'sky',
  });
  const valuesAt = (time: number): Float64Array => {
    const values = new Float64Array(8 * channels * baselines);
    let at = 0;
    frequenciesHz.forEach((frequencyHz, c) => {
      for (let i = 0; i < places.length; i++) {
        for (let j = 0; j <= i; j++) {
          // The coherency [[XX, XY], [YX, YY]] of the pair.
          let [xx, xy, yx, yy]: Complex[] = [[0, 0], [0, 0], [0, 0], [0, 0]]; // prettier-ignore
          for (const { altDeg, azDeg, stokes, beam, widthDeg = 0 } of sources) {
            const [x, y] = beam?.(frequencyHz) ?? [1, 1];
            const east = Math.cos(altDeg * RADIANS) * Math.sin(azDeg * RADIANS);
            const north = Math.cos(altDeg * RADIANS) * Math.cos(azDeg * RADIANS);
            const up = Math.sin(altDeg * RADIANS);
            const [dx, dy, dz] = [
              places[i].eastM - places[j].eastM,
              places[i].northM - places[j].northM,
              places[i].upM - places[j].upM,
            ];
            const early = dx * east + dy * north + dz * up;
            // Projected baseline, in wavelengths.
            const across =
              (Math.sqrt(Math.max(0, dx * dx + dy * dy + dz * dz - early ** 2)) * frequencyHz) / C_M_PER_S;
            const size = Math.exp(-((Math.PI * widthDeg * RADIANS * across) ** 2) / (4 * Math.log(2)));
            const angle = (2 * Math.PI * frequencyHz * early) / C_M_PER_S;
            const fringe: Complex = [size * Math.cos(angle), size * Math.sin(angle)];
            const [I, Q, U, V] = stokes;
            xx = plus(xx, times(fringe, [x * x * (I - Q), 0]));
            yy = plus(yy, times(fringe, [y * y * (I + Q), 0]));
            xy = plus(xy, times(fringe, [x * y * U, -x * y * V]));
            yx = plus(yx, times(fringe, [x * y * U, x * y * V]));
          }
          const left = jones?.(i, c) ?? one;
          const right = jones?.(j, c) ?? one;
          // J_i · C · J_jᴴ
          const half = [
            plus(times(left[0], xx), times(left[1], yx)),
            plus(times(left[0], xy), times(left[1], yy)),
            plus(times(left[2], xx), times(left[3], yx)),
            plus(times(left[2], xy), times(left[3], yy)),
          ];
          for (const [p, q] of [
            [0, 0],
            [0, 1],
            [1, 0],
            [1, 1],
          ] as const) {
            // prettier-ignore
            const [re, im] = plus(
            times(half[2 * p], conj(right[2 * q])),
            times(half[2 * p + 1], conj(right[2 * q + 1])),
          );
            const [more, moreIm] = sky.added?.(time, c, [i, j], [p, q]) ?? [0, 0];
            values[at++] = COUNT * (re + more + (i === j ? 0 : noiseJy * random.gaussian()));
            values[at++] = COUNT * (im + moreIm + (i === j ? 0 : noiseJy * random.gaussian()));
          }
        }
      }
    });
    return values;
  };
  for (let time = 0; time < (sky.times ?? 1); time++)
    await writer.append({
      start: addSeconds(START, 2 * time),
      durationS: 2,
      channels,
      stations: places.length,
      polarisations: 2,
      visibilities: visibilitiesCBPP(valuesAt(time), channels, baselines, 2),
      counts: countsCB(new Float64Array(channels * baselines).fill(COUNT), channels, baselines),
      flaggedInputs: new Uint8Array(2 * places.length),
    });
  await writer.finish();
  return telescope;
}

function followedBy({ towards }: KnownSky, { site }: Telescope): SkyPosition {
  const frame = skyFrame(site, START);
  return towards ? frame.positionOf(directionFromAltAz(...towards)) : frame.zenith;
}

/** Samples per visibility. */
const COUNT = 1000;

/** A gain of each input, of amplitude 0.8 to 1.2 and any phase: no leakage. */
export function randomGains(
  seed: number,
  stations: number,
  channels: number,
): (s: number, c: number) => Jones {
  const random = randomStream(seed, 'gains');
  const part = (): number => random.below(2 ** 24) / 2 ** 24;
  const table = Array.from({ length: 2 * stations * channels }, (): Complex => {
    const [size, turn] = [0.8 + 0.4 * part(), 2 * Math.PI * part()];
    return [size * Math.cos(turn), size * Math.sin(turn)];
  });
  return (s, c) => {
    const at = 2 * (c * stations + s);
    return [table[at], [0, 0], [0, 0], table[at + 1]];
  };
}
