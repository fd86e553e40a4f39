/**
 * Wide images gridded in TypeScript, on one thread: the algorithm of plan.ts plainly, and what `reference` takes where
 * the direct sum would take too long. As in C++, where all planes are held, blocks are gridded as they come and the
 * planes transformed once, at the end; where they are not, every block goes through all planes, a stack at a time.
 */
import { setImmediate } from 'node:timers/promises';
import { planeML, visibilitiesRC } from '../../../core/axes.js';
import { refuse } from '../../../core/errors.js';
import type { OnProgress } from '../../../core/progress.js';
import { collectRows } from '../collect.js';
import type { WideImager } from '../imager.js';
import type { WidePlan } from '../plan.js';
import {
  checkRows,
  checkWithin,
  rowCount,
  wavelengthsPerMetre,
  type WideGeometry,
  type WideRows,
} from '../rows.js';
import { preparePlacer } from './footprint.js';
import { preparePlanes, type PlaneStack } from './planes.js';
import { prepareTransforms } from './transforms.js';

/** After so many visibilities, and after each plane, whoever else has work gets a turn: signals, progress. */
const AT_A_TIME = 2 ** 16;

export interface GriddedOptions {
  /** How far a pass over the planes has come. */
  readonly onProgress?: OnProgress;
}

export function prepareGriddedImager(plan: WidePlan, { onProgress }: GriddedOptions = {}): WideImager {
  const { pixels } = plan;
  const { planes } = plan.w;
  const held = plan.planesHeld;
  const holdsAll = held === planes;
  const placer = preparePlacer(plan);
  const { footprint } = placer;
  const transforms = prepareTransforms(plan);
  const prepareStack = (): PlaneStack => preparePlanes(plan, placer, transforms.toCells);
  const stack = prepareStack();
  let modelStack: PlaneStack | undefined;
  /** Kept where not all planes are held. */
  let modelImage: Float64Array | undefined;
  let image: Float64Array | undefined;
  let weightSum = 0;
  let visibilities = 0;

  const grid = async (rows: WideRows): Promise<void> => {
    const { weights } = rows;
    await eachVisibility(rows, (at, uLambda, vLambda, wLambda, sign) => {
      const weight = weights[at];
      const plane = placer.firstPlane(wLambda);
      if (!(weight > 0) || !stack.touches(plane)) return;
      placer.place(uLambda, vLambda, wLambda);
      const { cosine, sine } = footprint;
      const re = weight * (rows.visibilities ? rows.visibilities[2 * at] : 1);
      const im = weight * (rows.visibilities ? sign * rows.visibilities[2 * at + 1] : 0);
      // times e^(−2πi w·middle)
      stack.add(plane, re * cosine + im * sine, im * cosine - re * sine);
    });
  };

  const addStack = async (): Promise<void> => {
    for (let plane = stack.end - 1; plane >= stack.first; plane--) {
      transforms.addPlane(stack.plane(plane));
      onProgress?.({ done: planes - plane, of: planes, unit: 'planes' });
      await setImmediate();
    }
  };

  const pass = async (rows: WideRows): Promise<void> => {
    if (holdsAll) {
      await grid(rows);
      return;
    }
    transforms.clearSums();
    for (let end = planes; end > 0; end -= held) {
      stack.start(Math.max(0, end - held), end);
      await grid(rows);
      await addStack();
    }
    image ??= new Float64Array(pixels * pixels);
    transforms.collect(image, 1);
  };

  const collector = holdsAll ? undefined : collectRows(pass);

  const takeStack = async (own: PlaneStack): Promise<void> => {
    for (let plane = own.first; plane < own.end; plane++) {
      transforms.takePlane(own.plane(plane));
      onProgress?.({ done: plane + 1, of: planes, unit: 'planes' });
      await setImmediate();
    }
  };

  const degrid = (geometry: WideGeometry, own: PlaneStack, to: Float64Array): Promise<void> =>
    eachVisibility(geometry, (at, uLambda, vLambda, wLambda, sign) => {
      const plane = placer.firstPlane(wLambda);
      if (!own.touches(plane)) return;
      placer.place(uLambda, vLambda, wLambda);
      own.gather(plane);
      const { cosine, sine } = footprint;
      const re = own.gathered[0];
      const im = own.gathered[1];
      to[2 * at] += re * cosine - im * sine;
      to[2 * at + 1] += sign * (re * sine + im * cosine);
    });

  return {
    plan,
    method: 'gridded',
    accumulate: async (rows) => {
      checkRows(rows);
      checkWithin(plan.bounds, rows);
      for (const weight of rows.weights) {
        if (!(weight > 0)) continue;
        weightSum += weight;
        visibilities++;
      }
      await (collector ? collector.add(rows) : pass(rows));
    },
    finish: async () => {
      await collector?.flush();
      if (holdsAll) {
        transforms.clearSums();
        await addStack();
        stack.start(0, planes);
      } else if (!image) {
        transforms.clearSums();
      }
      const weight = weightSum > 0 ? weightSum : 1;
      let made = image?.map((value) => value / weight);
      if (!made) {
        made = new Float64Array(pixels * pixels);
        transforms.collect(made, weight);
      }
      const used = { weightSum, visibilities };
      image = undefined;
      weightSum = 0;
      visibilities = 0;
      return { image: planeML(made, pixels), ...used };
    },
    loadModel: async (model) => {
      modelStack ??= prepareStack();
      planeML(model, pixels);
      if (!holdsAll) {
        modelImage = model.slice();
        return;
      }
      modelStack.start(0, planes);
      transforms.spread(model);
      await takeStack(modelStack);
    },
    predict: async (geometry) => {
      checkWithin(plan.bounds, geometry);
      const own = modelStack ?? refuse('image', 'no model was loaded');
      const values = new Float64Array(2 * rowCount(geometry) * geometry.frequenciesHz.length);
      if (modelImage) transforms.spread(modelImage);
      for (let first = 0; first < planes; first += held) {
        if (modelImage) {
          own.start(first, Math.min(planes, first + held));
          await takeStack(own);
        }
        await degrid(geometry, own, values);
      }
      return visibilitiesRC(values, rowCount(geometry), geometry.frequenciesHz.length);
    },
    close: () => Promise.resolve(),
  };
}

/** u, v and w in wavelengths, w ≥ 0: where it is not, the pair is taken the other way round and `sign` is −1. */
async function eachVisibility(
  geometry: WideGeometry,
  act: (at: number, uLambda: number, vLambda: number, wLambda: number, sign: number) => void,
): Promise<void> {
  const { uvwM } = geometry;
  const scales = wavelengthsPerMetre(geometry.frequenciesHz);
  const channels = scales.length;
  const rows = rowCount(geometry);
  const rowsAtATime = Math.max(1, Math.floor(AT_A_TIME / channels));
  for (let row = 0; row < rows; row++) {
    const sign = uvwM[3 * row + 2] < 0 ? -1 : 1;
    const u = sign * uvwM[3 * row];
    const v = sign * uvwM[3 * row + 1];
    const w = sign * uvwM[3 * row + 2];
    for (let c = 0; c < channels; c++) {
      const scale = scales[c];
      act(row * channels + c, u * scale, v * scale, w * scale, sign);
    }
    if ((row + 1) % rowsAtATime === 0) await setImmediate();
  }
}
