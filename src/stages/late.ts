/** Images are left out while the packets that wait fill the ring: visibilities and beams lose nothing to images. */
import type { Stage } from './stage.js';

export interface Lateness {
  /** Whether so many packets wait that the ring is nearly full. */
  isBehind(): boolean;
  /** Called for each image that is left out. */
  leftOut(): unknown;
  /** How many were. */
  readonly count?: number;
}

/** A part of an image's data; integrations are whole images. */
interface Part {
  readonly index?: number;
  readonly cutAt?: number;
}

/** Decided where an image begins: an image has all of its data or none. */
export function leavingOutLate<In extends object, Out>(
  stage: Stage<In, Out>,
  late: Lateness | undefined,
): Stage<In, Out> {
  if (!late) return stage;
  let [until, isLeftOut] = [-Infinity, false];
  return {
    ...stage,
    push: async (item, emit) => {
      const { index, cutAt } = item as Part;
      if (index === undefined || index >= until) {
        isLeftOut = late.isBehind();
        if (isLeftOut) late.leftOut();
        until = cutAt ?? -Infinity;
      }
      if (!isLeftOut) await stage.push(item, emit);
    },
  };
}
