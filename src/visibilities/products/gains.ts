/** Gains from visibilities: solved with a sky model, written as JSON and CalH5. */
import { refuseSeveralTargets } from '../../formats/index.js';
import { handingOver, type Product } from '../../products/index.js';
import { countedPartOf, type FromVisibilities, type PlannedFromVisibilities } from '../from-visibilities.js';
import {
  gainsFileOf,
  pathsOfGains,
  planGains,
  solvePlanned,
  type SolvedGains,
  writeSolvedGains,
} from '../../products/solve/index.js';

/** Gains that were solved and written. */
export interface WrittenGains {
  readonly solved: SolvedGains;
  readonly seconds: number;
}

export async function planGainsProduct(
  product: Product<'gains'>,
  from: FromVisibilities,
): Promise<PlannedFromVisibilities<WrittenGains>> {
  const path = product.gains ?? undefined;
  const paths = path === undefined ? [] : pathsOfGains({ ...product, gains: path });
  refuseSeveralTargets(from.opened);
  const { target, integration } = from.observation.source;
  const file = await countedPartOf(from, product.channels, 'products.gains.channels');
  const { telescope, discs } = from;
  const plan = await planGains(file, { product, telescope, target, integration, discs });
  return {
    name: 'gains',
    paths,
    make: async (making) => {
      const { history, stage } = making;
      let shown = stage('read');
      const solved = await solvePlanned(file, plan, {
        backend: await from.backend(),
        onRead: (progress) => {
          shown.update(progress);
        },
        onSolving: () => {
          shown.done();
          shown = stage('calibrate');
        },
        onStep: (part, what) => {
          shown.step(part, what);
        },
      });
      const seconds = shown.done();
      if (path !== undefined) await writeSolvedGains(path, solved, history);
      else await handingOver(making, 'gains')({ kind: 'gains', gains: gainsFileOf(solved, history), solved });
      return { solved, seconds };
    },
  };
}
