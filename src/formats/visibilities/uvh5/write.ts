/**
 * Writes UVH5 (memo 1.2), one integration at a time; the file is complete after each. For the pair (1, 2) the format
 * stores conj(V₁₂) beside uvw = r₂ − r₁ in metres. We hold V_ij with i ≥ j and write antenna 1 = j, antenna 2 = i:
 * conj(V₁₂[p₁][p₂]) = V_ij[p₂][p₁], for autocorrelations conj(V_ii[p₁][p₂]). Fringe stopping multiplies by e^(−2πi f
 * w/c).
 */
import { baselineCount, baselineIndex } from '../../../core/axes.js';
import { refuse } from '../../../core/errors.js';
import { addSeconds, julianDate, type Instant } from '../../../core/instant.js';
import { RADIANS_PER_DEGREE } from '../../../core/units.js';
import { dot, normalise, type Vector3 } from '../../../core/vector.js';
import { skyFrame } from '../../../sky/frame.js';
import { localSiderealTimeRad } from '../../../sky/earth/sidereal.js';
import { checkIntegration, storedIntegrationS, storedUvwM } from '../pass-through.js';
import { stationNumbers } from '../header-facts.js';
import type { VisibilityHeader, VisibilityWriter, WhenItAppears } from '../../format.js';
import { createHdf5 } from '../../hdf5/write.js';
import { bytesOf } from '../../io/interleave.js';
import { openOutput } from '../../io/output.js';
import { isRunning, planUvh5, type Uvh5Options } from './plan.js';
import { rowFillers } from './values.js';

export async function createUvh5(
  path: string,
  header: VisibilityHeader,
  options: Uvh5Options = { values: 'complex64' },
  appears: WhenItAppears = 'finished',
): Promise<VisibilityWriter> {
  const { telescope, frequenciesHz } = header;
  const stations = telescope.stations.length;
  if (frequenciesHz.length === 0 || stations === 0)
    refuse(path, 'has no channels or no stations', 'give at least one of each');
  const numbers = stationNumbers(telescope.stations);
  const allPairs = pairsOf(stations);
  const times = new Set<number>();
  /** [b], 1 if a pair has occurred at some time. */
  const seen = new Uint8Array(baselineCount(stations));
  let rowsInAll = 0;
  let pairsSeen = 0;
  let firstTime: Instant | undefined;
  /** Integrations permanently in the file, and where they end. */
  let finished = 0;
  let finishedBytes = 0;
  /** Whether finished integrations are not yet in the file's index. */
  let pending = false;
  let isAppending = false;
  const output = await openOutput(path);
  try {
    const plan = planUvh5(header, options, {
      count: () => times.size,
      first: () => firstTime,
      rows: () => rowsInAll,
      pairs: () => pairsSeen,
    });
    const file = await createHdf5(output, plan);
    return {
      append: async (integration) => {
        checkIntegration(path, header, integration);
        isAppending = true;
        const middle = addSeconds(integration.start, integration.durationS / 2);
        const { midnightJd, dayFraction } = julianDate(middle);
        const days = midnightJd + dayFraction;
        if (times.has(days))
          refuse(path, `two integrations are at Julian Date ${days}`, 'give each its own time');
        const geometry = geometryAt(header, options, middle);
        firstTime ??= middle;
        const put = (name: string, bytes: ArrayBufferView): Promise<void> =>
          file.append(name, bytesOf(bytes));
        const { pairs: there } = integration;
        const pairs = there
          ? allPairs.filter(([one, two]) => there[baselineIndex(two, one)] === 1)
          : allPairs;
        const rows = pairs.length;
        if (rows === 0) refuse(path, 'an integration holds no pair', 'leave it out');
        const each = (value: number): Float64Array => new Float64Array(rows).fill(value);
        await put(
          '/Header/ant_1_array',
          BigInt64Array.from(pairs, ([one]) => BigInt(numbers[one])),
        );
        await put(
          '/Header/ant_2_array',
          BigInt64Array.from(pairs, ([, two]) => BigInt(numbers[two])),
        );
        await put('/Header/time_array', each(days));
        await put(
          '/Header/integration_time',
          Float64Array.from(pairs, ([one, two]) => storedIntegrationS(integration, two, one)),
        );
        await put('/Header/lst_array', each(geometry.siderealTimeRad));
        await put('/Header/phase_center_app_ra', each(geometry.apparentRaRad));
        await put('/Header/phase_center_app_dec', each(geometry.apparentDecRad));
        await put('/Header/phase_center_frame_pa', each(geometry.positionAngleRad));
        await put('/Header/phase_center_id_array', new BigInt64Array(rows));
        const uvw = new Float64Array(3 * rows);
        pairs.forEach(([one, two], row) => {
          const passThrough = isRunning(header, options)
            ? undefined
            : storedUvwM(integration, header, two, one);
          for (let axis = 0; axis < 3; axis++) {
            uvw[3 * row + axis] = passThrough
              ? 0 - passThrough[axis]
              : geometry.uvwM[3 * two + axis] - geometry.uvwM[3 * one + axis];
          }
        });
        await put('/Header/uvw_array', uvw);
        const fill = rowFillers(path, integration, { header, options, pairs, uvw });
        for (const name of ['visdata', 'flags', 'nsamples'] as const) {
          const dataset = `/Data/${name}`;
          // Chunk by chunk: an integration of a large array must not be in memory twice.
          const chunkRows = file.chunkRowsOf(dataset);
          const filler = fill[name](chunkRows);
          for (let row = 0; row < rows; row += chunkRows) {
            const some = Math.min(chunkRows, rows - row);
            filler.fill(row, some);
            await put(dataset, filler.elements.subarray(0, (filler.elements.length / chunkRows) * some));
          }
        }
        times.add(days);
        rowsInAll += rows;
        for (const [one, two] of pairs) {
          const b = baselineIndex(two, one);
          if (seen[b] === 0) pairsSeen++;
          seen[b] = 1;
        }
        // If times have different rows, every commit leaves half-filled chunks: one commit at the end is enough.
        if (header.rows?.times === 'different') pending = true;
        else await file.commit();
        finished++;
        finishedBytes = output.sizeBytes;
        isAppending = false;
        output.worthKeeping();
        if (appears === 'first-integration') await output.appear();
      },
      keep: async () => {
        if (finished === 0) {
          await output.abandon();
          return 0;
        }
        if (pending && isAppending) {
          // Rows of a failed integration are among the finished ones.
          await output.abandon();
          return 0;
        }
        if (pending) await file.commit();
        else await output.resize(finishedBytes);
        await output.finish();
        return finished;
      },
      finish: async () => {
        try {
          if (times.size === 0)
            refuse(path, 'no integration was written', 'give it at least one before finishing');
          if (pending) await file.commit();
          await output.finish();
        } catch (error) {
          await output.abandon();
          throw error;
        }
      },
      abandon: () => output.abandon(),
    };
  } catch (error) {
    await output.abandon();
    throw error;
  }
}

/** (antenna 1, antenna 2) of each row: 1 ≤ 2, the second fastest. */
function pairsOf(stations: number): (readonly [number, number])[] {
  return Array.from({ length: stations }, (_, one) =>
    Array.from({ length: stations - one }, (_unused, k) => [one, one + k] as const),
  ).flat();
}

interface Geometry {
  /** uvwM[3·s + axis]: each station along the axes of u, v and w. */
  readonly uvwM: Float64Array;
  readonly siderealTimeRad: number;
  readonly apparentRaRad: number;
  readonly apparentDecRad: number;
  /** Of the catalogue's north, from apparent north through east. */
  readonly positionAngleRad: number;
}

const turn = (angleRad: number): number => ((angleRad % (2 * Math.PI)) + 2 * Math.PI) % (2 * Math.PI);

function geometryAt(header: VisibilityHeader, options: Uvh5Options, middle: Instant): Geometry {
  const { telescope, phaseCentre } = header;
  const { site } = telescope;
  const siderealTimeRad = localSiderealTimeRad(middle, site.longitudeDeg);
  const latitude = site.latitudeDeg * RADIANS_PER_DEGREE;
  const along = (axes: readonly Vector3[]): Float64Array =>
    Float64Array.from(
      telescope.stations.flatMap(({ eastM, northM, upM }) =>
        axes.map((axis) => dot(axis, { x: eastM, y: northM, z: upM })),
      ),
    );
  if (isRunning(header, options)) {
    // Running fringes: u, v, w are east, north and up, and the centre is the zenith at that time.
    const local = [
      { x: 1, y: 0, z: 0 },
      { x: 0, y: 1, z: 0 },
      { x: 0, y: 0, z: 1 },
    ];
    return {
      uvwM: along(local),
      siderealTimeRad,
      apparentRaRad: siderealTimeRad,
      apparentDecRad: latitude,
      positionAngleRad: 0,
    };
  }
  const { l, m, n } = skyFrame(site, middle).tangentAxes(phaseCentre);
  const hourAngle = Math.atan2(-n.x, n.z * Math.cos(latitude) - n.y * Math.sin(latitude));
  const pole = { x: 0, y: Math.cos(latitude), z: Math.sin(latitude) };
  const height = dot(pole, n);
  const north = normalise({ x: pole.x - height * n.x, y: pole.y - height * n.y, z: pole.z - height * n.z });
  return {
    uvwM: along([l, m, n]),
    siderealTimeRad,
    apparentRaRad: turn(siderealTimeRad - hourAngle),
    apparentDecRad: Math.asin(Math.max(-1, Math.min(1, height))),
    positionAngleRad: Math.atan2(-dot(north, l), dot(north, m)),
  };
}
