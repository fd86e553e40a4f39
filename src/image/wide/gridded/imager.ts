/**
 * Wide images gridded in TypeScript, on one thread: a plain version of plan.ts's algorithm, which `reference` uses
 * where the direct sum would take too long. As in C++, where all planes are in memory, blocks are gridded on arrival
 * and the planes transformed once, at the end; where they are not, every block goes through all planes, a stack at a
 * time.
 */
import { setImmediate } from 'node:timers/promises';
import { planeML, visibilitiesRC } from '../../../core/axes.js';
import { refuse } from '../../../core/errors.js';
import type { OnProgress } from '../../../core/progress.js';
import { collectRows } from '../collect.js';
import type { WideImager } from '../imager.js';
import type { WidePlan } from '../plan.js';
import { checkRows, checkWithin, rowCount, type WideGeometry, type WideRows } from '../rows.js';
import { preparePlacer } from './footprint.js';
import { walkInOrder, type Measured } from './order.js';
import { preparePlanes, type PlaneStack } from './planes.js';
import { prepareTransforms } from './transforms.js';

/** After so many visibilities, and after each plane, other work gets a turn: signals, progress. */
const AT_A_TIME = 2 ** 16;

interface GriddedOptions {
  /** Progress of a pass over the planes. */
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

  const eachVisibility = async (
    geometry: WideGeometry,
    isWanted: (at: number, plane: number) => boolean,
    act: (measured: Measured, plane: number) => void,
  ): Promise<void> => {
    const { measured, count, load } = walkInOrder(plan, geometry, placer, isWanted);
    // A loop of its own: V8 optimises code around an await badly.
    const walk = (first: number, end: number): void => {
      for (let k = first; k < end; k++) {
        load(k);
        placer.place(measured.uLambda, measured.vLambda, measured.wLambda);
        act(measured, placer.firstPlane(measured.wLambda));
      }
    };
    for (let first = 0; first < count; first += AT_A_TIME) {
      walk(first, Math.min(count, first + AT_A_TIME));
      await setImmediate();
    }
  };

  const grid = ({ visibilities: values, weights, ...geometry }: WideRows): Promise<void> =>
    eachVisibility(
      geometry,
      (at, plane) => weights[at] > 0 && stack.touches(plane),
      ({ at, sign }, plane) => {
        const { cosine, sine } = footprint;
        const re = weights[at] * (values ? values[2 * at] : 1);
        const im = weights[at] * (values ? sign * values[2 * at + 1] : 0);
        // times e^(−2πi w·middle)
        stack.add(plane, re * cosine + im * sine, im * cosine - re * sine);
      },
    );

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
    eachVisibility(
      geometry,
      (_, plane) => own.touches(plane),
      ({ at, sign }, plane) => {
        own.gather(plane);
        const { cosine, sine } = footprint;
        const re = own.gathered[0];
        const im = own.gathered[1];
        to[2 * at] += re * cosine - im * sine;
        to[2 * at + 1] += sign * (re * sine + im * cosine);
      },
    );

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
