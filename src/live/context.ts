/** What a live run is given, whatever its source. */
import type { Backend } from '../backend/backend.js';
import type { Line } from '../messages/index.js';
import type { ObservedItem } from '../observation/index.js';
import type { FileEvent, ProductListener, SeenBeams } from '../products/index.js';
import type { ImagerStore, Lateness, TimedSpectra } from '../stages/index.js';
import type { LivePlan } from './plan.js';
import type { ShownRun } from './shown.js';
import type { Steering } from './steering.js';

export interface RunContext {
  readonly backend: Backend;
  readonly plan: LivePlan;
  /** Flags, gains and integration lengths that may change during the run; by default those of the plan apply. */
  readonly steering?: Steering;
  /** Images are left out while packets wait. */
  readonly late?: Lateness;
  /** Keeps imagers from the rehearsal to the first stream epoch, and from each epoch to the next. */
  readonly imagers?: ImagerStore;
  /** Called with spectra before the chain processes them. */
  readonly look?: (spectra: TimedSpectra) => Promise<void>;
  /** For beams, by the number of their product. */
  readonly onBeams?: (product: number, seen: SeenBeams) => void;
  /** Receives the items of products without a path. */
  readonly onItem?: (item: ObservedItem) => Promise<void>;
  /** Without it nothing is written. */
  readonly writing?: Writing;
}

export interface Writing {
  /** For the product with this number. */
  readonly historyOf: (product: number) => readonly string[];
  readonly onFile: (event: FileEvent) => void;
  readonly onFault: (line: Line) => void;
}

/** Of the products that are shown. */
export type Listener = Pick<ProductListener, 'integration' | 'image' | 'noImage' | 'rounded'>;

/** What a page shows of it. */
export const shownOf = ({
  backend,
  plan,
  steering,
  late,
}: Pick<RunContext, 'backend' | 'plan' | 'steering' | 'late'>): ShownRun => ({
  backend,
  steering,
  late,
  telescope: plan.telescope,
  frequenciesHz: plan.spectra.frequenciesHz,
  flaggedInputs: plan.observed.flaggedInputs,
  integrationS: plan.integrationS,
  imaging: plan.imaging,
  isTracked: plan.frontSettings.delays?.track !== undefined,
});
