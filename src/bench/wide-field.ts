/** Test data for benchmarks of wide-field images: arrays that track a source, noise in every visibility. */
import { uvwR, visibilitiesRC, weightsRC } from '../core/axes.js';
import { randomStream } from '../core/random.js';
import { RADIANS_PER_DEGREE } from '../core/units.js';
import { boundsOf, planWide, type WidePlan, type WideRows } from '../image/index.js';

export interface WideField {
  readonly name: 'MWA-like' | 'dishes';
  readonly stations: number;
  readonly times: number;
  readonly channels: number;
  readonly pixels: number;
  readonly accuracy: number;
}

interface Array3 {
  readonly latitudeDeg: number;
  readonly declinationDeg: number;
  readonly hours: number;
  readonly firstHz: number;
  readonly stepHz: number;
  /** Half of the stations are within it, the rest up to `reach` times as far. */
  readonly coreM: number;
  readonly reach: number;
  readonly fieldDeg: number;
}

const arrays = {
  'MWA-like': {
    latitudeDeg: -26.7,
    declinationDeg: -11.7,
    hours: 4,
    firstHz: 150e6,
    stepHz: 40e3,
    coreM: 150,
    reach: 10,
    fieldDeg: 30,
  },
  dishes: {
    latitudeDeg: -30,
    declinationDeg: 10,
    hours: 8,
    firstHz: 1.4e9,
    stepHz: 0.2e6,
    coreM: 300,
    reach: 10 / 3,
    fieldDeg: 1,
  },
} satisfies Record<WideField['name'], Array3>;

/** Every pair at every time, u, v and w from hour angle and declination; station heights vary by 3 m. */
export function wideRows({ name, stations, times, channels }: WideField): WideRows {
  const array = arrays[name];
  const random = randomStream(5, 'wide', name);
  const latitude = array.latitudeDeg * RADIANS_PER_DEGREE;
  const declination = array.declinationDeg * RADIANS_PER_DEGREE;
  const places = Array.from({ length: stations }, (_, s) => {
    const radius =
      array.coreM * (s < stations / 2 ? Math.sqrt(random.uniform()) : array.reach ** random.uniform());
    const angle = 2 * Math.PI * random.uniform();
    const [east, north, up] = [radius * Math.cos(angle), radius * Math.sin(angle), 3 * random.gaussian()];
    return {
      x: -Math.sin(latitude) * north + Math.cos(latitude) * up,
      y: east,
      z: Math.cos(latitude) * north + Math.sin(latitude) * up,
    };
  });
  const rows = (times * stations * (stations - 1)) / 2;
  const uvw = new Float64Array(3 * rows);
  let at = 0;
  for (let time = 0; time < times; time++) {
    const hour = array.hours * (time / Math.max(1, times - 1) - 0.5) * 15 * RADIANS_PER_DEGREE;
    const [sine, cosine] = [Math.sin(hour), Math.cos(hour)];
    for (const [i, a] of places.entries()) {
      for (const b of places.slice(0, i)) {
        const [x, y, z] = [a.x - b.x, a.y - b.y, a.z - b.z];
        uvw[at++] = sine * x + cosine * y;
        uvw[at++] = Math.sin(declination) * (sine * y - cosine * x) + Math.cos(declination) * z;
        uvw[at++] = Math.cos(declination) * (cosine * x - sine * y) + Math.sin(declination) * z;
      }
    }
  }
  return {
    uvwM: uvwR(uvw, rows),
    frequenciesHz: Float64Array.from({ length: channels }, (_, c) => array.firstHz + c * array.stepHz),
    visibilities: visibilitiesRC(
      Float32Array.from({ length: 2 * rows * channels }, () => random.gaussian()),
      rows,
      channels,
    ),
    weights: weightsRC(new Float32Array(rows * channels).fill(1), rows, channels),
  };
}

export const pixelCosineOf = ({ name, pixels }: WideField): number =>
  (2 * Math.sin((arrays[name].fieldDeg / 2) * RADIANS_PER_DEGREE)) / pixels;

export const planField = (field: WideField, rows: WideRows, costs: 'cpu' | 'cuda'): WidePlan =>
  planWide({
    pixels: field.pixels,
    pixelCosine: pixelCosineOf(field),
    accuracy: field.accuracy,
    bounds: boundsOf([rows]),
    costs,
    // All planes at once, so that steps can be timed separately.
    ...(costs === 'cuda' && { memoryBytes: 2 ** 35 }),
  });
