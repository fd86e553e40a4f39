/**
 * Single sources over the whole sky, imaged directly and from visibilities, and compared with a plain Fourier sum over
 * the visibilities.
 */
import {
  allocateSpectra,
  baselineCount,
  countsCB,
  planeML,
  visibilitiesCBPP,
  type ImageCPML,
} from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { closingAfter } from '../../core/closing.js';
import { randomStream } from '../../core/random.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { dot, type Vector3 } from '../../core/vector.js';
import {
  fitBeam,
  measureSource,
  pixelCosine,
  planeOf,
  planImage,
  prepareDirectImager,
  prepareVisibilityImager,
  type ImagePlan,
} from '../../image/index.js';
import { START } from '../engines.js';
import { atMost, reported, type Check, type Figure, type Rig } from '../figure.js';
import { wideChecks } from './wide-images.js';

const STATIONS = 40;
const FREQUENCY_HZ = 60e6;
const FLUX_JY = 1;
/** Zenith, and rings of altitude; azimuth east of north. */
const places = [
  { altitudeDeg: 90, azimuthDeg: 0 },
  ...[60, 40, 25].flatMap((altitudeDeg, ring) =>
    [0, 90, 180, 270].map((azimuthDeg) => ({ altitudeDeg, azimuthDeg: azimuthDeg + 20 * ring })),
  ),
];

export const imagesFigure: Figure = {
  name: 'images',
  title: 'Positions, fluxes and the Fourier sum',
  about:
    'Voltages and visibilities of one source at a time, by formula, at 13 places from the zenith down to 25° of altitude. Where the image peaks and how bright it is there, by visibilities and directly; every pixel against the plain Fourier sum; and wide images off the zenith of a hilly array at the stated accuracy.',
  measure: async (rig) => {
    const sky = arrange(rig);
    const visibilities = await byVisibilities(rig, sky);
    const direct = await directly(rig, sky);
    return {
      checks: [
        reported('width of the beam', sky.beamPixels, 'pixels'),
        ...checksOf('from visibilities', sky, visibilities, 'leave-out'),
        ...checksOf('directly', sky, direct, 'include'),
        ...(await wideChecks(rig)),
      ],
    };
  },
};

interface Sky {
  readonly plan: ImagePlan;
  readonly stationsM: readonly Vector3[];
  /** One for each channel, which contains only that source. */
  readonly directions: readonly Vector3[];
  readonly frequenciesHz: Float64Array;
  readonly beamPixels: number;
}

const direction = (altitudeDeg: number, azimuthDeg: number): Vector3 => {
  const [h, a] = [(altitudeDeg * Math.PI) / 180, (azimuthDeg * Math.PI) / 180];
  return { x: Math.cos(h) * Math.sin(a), y: Math.cos(h) * Math.cos(a), z: Math.sin(h) };
};

function arrange({ quick }: Rig): Sky {
  const random = randomStream(13, 'array');
  const stationsM = Array.from({ length: STATIONS }, () => ({
    x: 60 * (random.uniform() - 0.5),
    y: 60 * (random.uniform() - 0.5),
    z: 0,
  }));
  const frequenciesHz = Float64Array.from(places, (_, c) => FREQUENCY_HZ + 1e4 * c);
  const plan = planImage({
    pixels: quick ? 96 : 256,
    field: { kind: 'all-sky' },
    stationsM,
    axes: { l: { x: 1, y: 0, z: 0 }, m: { x: 0, y: 1, z: 0 }, n: { x: 0, y: 0, z: 1 } },
    frequenciesHz,
    polarisations: 1,
  });
  const directions = places.map(({ altitudeDeg, azimuthDeg }) => direction(altitudeDeg, azimuthDeg));
  const sky = { plan, stationsM, directions, frequenciesHz, beamPixels: NaN };
  const beam = Float64Array.from({ length: plan.pixels ** 2 }, (_, at) => {
    const l = pixelCosine(plan, at % plan.pixels);
    const m = pixelCosine(plan, Math.floor(at / plan.pixels));
    return l * l + m * m < 0.25 ? exact(sky, 0, l, m, 'leave-out') : 0;
  });
  const { majorDeg, minorDeg } = fitBeam(
    { pixels: plan.pixels, pixelCosine: plan.pixelSize },
    planeML(beam, plan.pixels),
  );
  return { ...sky, beamPixels: (Math.sqrt(majorDeg * minorDeg) * Math.PI) / 180 / plan.pixelSize };
}

/** Each station's phase for a wave from a direction: nearer stations receive it earlier. */
const phaseOf = ({ stationsM, frequenciesHz, directions }: Sky, c: number, s: number): number =>
  (2 * Math.PI * frequenciesHz[c] * dot(stationsM[s], directions[c])) / SPEED_OF_LIGHT_M_PER_S;

async function byVisibilities({ backend }: Rig, sky: Sky): Promise<ImageCPML> {
  const channels = places.length;
  const baselines = baselineCount(STATIONS);
  const values = new Float64Array(2 * channels * baselines);
  let at = 0;
  for (let c = 0; c < channels; c++)
    for (let i = 0; i < STATIONS; i++)
      for (let j = 0; j <= i; j++, at += 2) {
        const phase = phaseOf(sky, c, i) - phaseOf(sky, c, j);
        values[at] = FLUX_JY * Math.cos(phase);
        values[at + 1] = FLUX_JY * Math.sin(phase);
      }
  const integration: Integration = {
    start: START,
    durationS: 1,
    channels,
    stations: STATIONS,
    polarisations: 1,
    visibilities: visibilitiesCBPP(values, channels, baselines, 1),
    counts: countsCB(new Float64Array(channels * baselines).fill(1), channels, baselines),
    flaggedInputs: new Uint8Array(STATIONS),
  };
  return closingAfter(async (closers) => {
    const imager = closers.keep(await prepareVisibilityImager(sky.plan, backend));
    return (await imager.image([integration])).image;
  });
}

async function directly({ backend }: Rig, sky: Sky): Promise<ImageCPML> {
  const channels = places.length;
  // A few time steps: the same wave with different phases.
  const samples = 8;
  const spectra = allocateSpectra('cf32', channels, STATIONS, samples);
  for (let c = 0; c < channels; c++)
    for (let s = 0; s < STATIONS; s++)
      for (let t = 0; t < samples; t++) {
        const phase = phaseOf(sky, c, s) + t;
        const at = 2 * ((c * STATIONS + s) * samples + t);
        spectra[at] = Math.sqrt(FLUX_JY) * Math.cos(phase);
        spectra[at + 1] = Math.sqrt(FLUX_JY) * Math.sin(phase);
      }
  return closingAfter(async (closers) => {
    const shape = { type: 'cf32', channels, inputs: STATIONS, capacity: samples } as const;
    const block = closers.keep(backend.allocateSpectra(shape));
    await block.write(spectra, samples);
    const imager = closers.keep(await prepareDirectImager(sky.plan, backend));
    await imager.accumulate(block);
    return (await imager.finish()).image;
  });
}

/** Σ over pairs of Re[V e^(−2πi u·l)] over their number, V known by formula: |Σ_s e^(i …)|² with or without s = s'. */
function exact(sky: Sky, c: number, l: number, m: number, autos: 'include' | 'leave-out'): number {
  const perMetre = (2 * Math.PI * sky.frequenciesHz[c]) / SPEED_OF_LIGHT_M_PER_S;
  let [re, im] = [0, 0];
  for (let s = 0; s < STATIONS; s++) {
    const phase = phaseOf(sky, c, s) - perMetre * (sky.stationsM[s].x * l + sky.stationsM[s].y * m);
    re += Math.cos(phase);
    im += Math.sin(phase);
  }
  const power = re * re + im * im;
  return (
    FLUX_JY * (autos === 'include' ? power / STATIONS ** 2 : (power - STATIONS) / (STATIONS ** 2 - STATIONS))
  );
}

function checksOf(method: string, sky: Sky, image: ImageCPML, autos: 'include' | 'leave-out'): Check[] {
  const { plan, directions, beamPixels } = sky;
  let [offBeams, offFlux, offSum] = [0, 0, 0];
  for (let c = 0; c < places.length; c++) {
    const plane = planeOf(image, plan, c, 0);
    const found = measureSource(plane, plan, { l: directions[c].x, m: directions[c].y }, beamPixels);
    offBeams = Math.max(offBeams, found.errorPixels / beamPixels);
    offFlux = Math.max(offFlux, Math.abs(found.peak / FLUX_JY - 1));
    for (let at = 0; at < plane.length; at++) {
      if (Number.isNaN(plane[at])) continue;
      const l = pixelCosine(plan, at % plan.pixels);
      const m = pixelCosine(plan, Math.floor(at / plan.pixels));
      offSum = Math.max(offSum, Math.abs(plane[at] - exact(sky, c, l, m, autos)));
    }
  }
  return [
    atMost(`${method}: farthest from its place`, offBeams, 0.1, 'beams'),
    atMost(`${method}: flux`, 100 * offFlux, 1, '%'),
    atMost(`${method}: any pixel from the Fourier sum`, 100 * offSum, 1, '% of the peak'),
  ];
}
