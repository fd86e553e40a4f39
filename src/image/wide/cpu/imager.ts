/** Wide images in C++ (wide.cpp), float32 or float64 as the plan says. */
import { NULL } from '../../../backend/c-arguments.js';
import type { CpuBackend } from '../../../backend/cpu/cpu.js';
import { planeML, visibilitiesRC } from '../../../core/axes.js';
import { collectRows } from '../collect.js';
import type { WideImager } from '../imager.js';
import type { WidePlan } from '../plan.js';
import { checkRows, inPrecision, rowCount, wavelengthsPerMetre, type WideRows } from '../rows.js';

const WHERE = 'image';

export function prepareCpuWideImager(plan: WidePlan, { native }: CpuBackend): WideImager {
  const { pixels, precision } = plan;
  const engine = native.open(
    WHERE,
    `int32_t corella_wide_open(char *error, void *context, const int64_t *sizes /*[11]*/,
      const double *numbers /*[6]*/, const double *taps, const double *wTaps,
      const double *corrections, const double *series, _Out_ void **imager)`,
    sizesOf(plan),
    numbersOf(plan),
    ...([plan.taps.coefficients, plan.w.taps.coefficients, plan.corrections, plan.w.series] as const),
  );
  const add = native.bind(
    WHERE,
    `int32_t corella_wide_add(char *error, void *context, void *imager, int64_t rows, int64_t channels,
      const double *uvw /*[rows * 3]*/, const double *scales /*[channels]*/, const void *values,
      const float *weights /*[rows * channels]*/, double *totals /*[2]*/)`,
  );
  const finish = native.bind(
    WHERE,
    'int32_t corella_wide_finish(char *error, void *context, void *imager, double weight, double *image)',
  );
  const loadModel = native.bind(
    WHERE,
    'int32_t corella_wide_model(char *error, void *context, void *imager, const double *image)',
  );
  const predict = native.bind(
    WHERE,
    `int32_t corella_wide_predict(char *error, void *context, void *imager, int64_t rows, int64_t channels,
      const double *uvw /*[rows * 3]*/, const double *scales /*[channels]*/, void *values)`,
  );
  let weightSum = 0;
  let visibilities = 0;
  const pass = async (rows: WideRows): Promise<void> => {
    const totals = new Float64Array(2);
    const scales = wavelengthsPerMetre(rows.frequenciesHz);
    const values = rows.visibilities ? inPrecision(rows.visibilities, precision) : NULL;
    await add(
      ...([engine.address, rowCount(rows), scales.length, rows.uvwM, scales] as const),
      ...([values, rows.weights, totals] as const),
    );
    weightSum += totals[0];
    visibilities += totals[1];
  };
  const collector = plan.planesHeld < plan.w.planes ? collectRows(pass) : undefined;
  return {
    plan,
    method: 'gridded',
    accumulate: async (rows) => {
      checkRows(rows);
      await (collector ? collector.add(rows) : pass(rows));
    },
    finish: async () => {
      await collector?.flush();
      const image = new Float64Array(pixels * pixels);
      const used = { weightSum, visibilities };
      weightSum = 0;
      visibilities = 0;
      await finish(engine.address, used.weightSum > 0 ? used.weightSum : 1, image);
      return { image: planeML(image, pixels), ...used };
    },
    loadModel: (image) => loadModel(engine.address, planeML(image, pixels)),
    predict: async (geometry) => {
      const scales = wavelengthsPerMetre(geometry.frequenciesHz);
      const rows = rowCount(geometry);
      const length = 2 * rows * scales.length;
      const values = precision === 'float32' ? new Float32Array(length) : new Float64Array(length);
      await predict(engine.address, rows, scales.length, geometry.uvwM, scales, values);
      return visibilitiesRC(values, rows, scales.length);
    },
    close: () => engine.close(),
  };
}

/** In the order of corella_wide_open. */
function sizesOf(plan: WidePlan): BigInt64Array {
  const { w } = plan;
  return BigInt64Array.from(
    [
      Number(plan.precision === 'float64'),
      plan.pixels,
      plan.gridCells,
      plan.support,
      plan.taps.degree,
      w.support,
      w.taps.degree,
      w.planes,
      plan.planesHeld,
      w.series.length,
      Number(plan.scale === 'flux-over-n'),
    ],
    BigInt,
  );
}

const numbersOf = (plan: WidePlan): Float64Array =>
  Float64Array.of(
    ...[plan.pixelCosine, plan.bounds.leastWLambda, plan.w.firstLambda, plan.w.spacingLambda],
    ...[plan.middle, plan.halfRange],
  );
