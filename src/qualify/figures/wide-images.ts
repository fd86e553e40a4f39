/**
 * Part of `images`: an array with height differences, a field 40° off the zenith, pure noise: the hard case for
 * gridding.
 */
import { planeML, uvwR, visibilitiesRC, weightsRC, type PlaneML } from '../../core/axes.js';
import { closingAfter } from '../../core/closing.js';
import { randomStream } from '../../core/random.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { cross, dot, normalise, type Vector3 } from '../../core/vector.js';
import { boundsOf, planWide, prepareWideImager, type WideRows } from '../../image/index.js';
import { atMost, type Check, type Rig } from '../figure.js';

const STATIONS = 20;
const FREQUENCY_HZ = 150e6;
const PIXELS = 64;
const FIELD_DEG = 20;
const pixelCosine = (FIELD_DEG * Math.PI) / 180 / PIXELS;

export async function wideChecks(rig: Rig): Promise<Check[]> {
  const rows = noiseRows();
  const truth = fourierSum(rows);
  const peak = truth.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const checks: Check[] = [];
  for (const accuracy of [1e-2, 1e-4, 1e-6]) {
    const image = await closingAfter(async (closers) => {
      const plan = planWide({ pixels: PIXELS, pixelCosine, bounds: boundsOf([rows]), accuracy });
      const imager = closers.keep(await prepareWideImager(plan, rig.backend));
      // Converted to the precision of the plan.
      const { visibilities } = rows;
      await imager.accumulate({
        ...rows,
        ...(visibilities && {
          visibilities: visibilitiesRC(
            plan.precision === 'float32' ? Float32Array.from(visibilities) : Float64Array.from(visibilities),
            rows.weights.length,
            1,
          ),
        }),
      });
      return (await imager.finish()).image;
    });
    const off = truth.reduce((most, value, at) => Math.max(most, Math.abs(image[at] - value)), 0);
    checks.push(
      atMost(
        `wide, asked for ${accuracy}: any pixel from the Fourier sum`,
        off / peak,
        accuracy,
        'of the peak',
      ),
    );
  }
  return checks;
}

/** Each pair once, u, v, w along east, north and towards a centre 40° south of the zenith. */
function noiseRows(): WideRows {
  const random = randomStream(17, 'wide');
  const stationsM = Array.from({ length: STATIONS }, () => ({
    x: 400 * (random.uniform() - 0.5),
    y: 400 * (random.uniform() - 0.5),
    z: 4 * random.gaussian(),
  }));
  const off = (40 * Math.PI) / 180;
  const n: Vector3 = { x: 0, y: -Math.sin(off), z: Math.cos(off) };
  const l: Vector3 = { x: 1, y: 0, z: 0 };
  const m = normalise(cross(n, l));
  const uvw: number[] = [];
  for (let i = 0; i < STATIONS; i++)
    for (let j = 0; j < i; j++) {
      const [a, b] = [stationsM[i], stationsM[j]];
      const apart = { x: a.x - b.x, y: a.y - b.y, z: a.z - b.z };
      uvw.push(dot(apart, l), dot(apart, m), dot(apart, n));
    }
  const count = uvw.length / 3;
  return {
    uvwM: uvwR(Float64Array.from(uvw), count),
    frequenciesHz: Float64Array.of(FREQUENCY_HZ),
    visibilities: visibilitiesRC(
      Float32Array.from({ length: 2 * count }, () => random.gaussian()),
      count,
      1,
    ),
    weights: weightsRC(
      Float32Array.from({ length: count }, () => 0.5 + random.uniform()),
      count,
      1,
    ),
  };
}

function fourierSum({ uvwM, weights, visibilities }: WideRows): PlaneML {
  const scale = FREQUENCY_HZ / SPEED_OF_LIGHT_M_PER_S;
  const values = visibilities ?? new Float32Array(2 * weights.length);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const image = Float64Array.from({ length: PIXELS ** 2 }, (_, at) => {
    const l = ((at % PIXELS) - PIXELS / 2) * pixelCosine;
    const m = (Math.floor(at / PIXELS) - PIXELS / 2) * pixelCosine;
    const n = Math.sqrt(1 - l * l - m * m);
    let total = 0;
    for (let row = 0; row < weights.length; row++) {
      const turns = scale * (uvwM[3 * row] * l + uvwM[3 * row + 1] * m + uvwM[3 * row + 2] * (n - 1));
      const angle = 2 * Math.PI * turns;
      total += weights[row] * (values[2 * row] * Math.cos(angle) + values[2 * row + 1] * Math.sin(angle));
    }
    return total / sum;
  });
  return planeML(image, PIXELS);
}
