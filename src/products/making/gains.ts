/** Gains from the integrations of a run: equal to those from visibilities that are written and then calibrated. */
import type { Integration } from '../../core/blocks.js';
import { channelsNamed, integrationClock, type Stage } from '../../stages/index.js';
import { handingOver, type Making, type Observed, type PlannedProduct } from '../product.js';
import type { Product } from '../registry.js';
import {
  gainsFileOf,
  type GainsInForce,
  GainsSolver,
  pathsOfGains,
  planGains,
  type SolvedGains,
  writeSolvedGains,
} from '../solve/index.js';
import { headerOf, largestSumOf, planIntegration, type PlannedIntegration } from './visibilities.js';

export interface GainFacts {
  /** Number so far. */
  readonly solutions: number;
  readonly integration: PlannedIntegration;
  /** Set at the end. */
  readonly solved?: SolvedGains;
}

export async function planGainsOfRun(
  fields: Product<'gains'>,
  observed: Observed,
): Promise<PlannedProduct<GainFacts>> {
  const { recording, telescope, spectra, rules, discs } = observed;
  const path = fields.gains ?? undefined;
  const channels =
    fields.channels === undefined
      ? undefined
      : channelsNamed(fields.channels.join(','), spectra.frequenciesHz, 'products.gains.channels');
  const integration = planIntegration(fields, observed);
  largestSumOf(spectra, recording.samples, integration.longestS, 'products.gains.integration');
  const clock = integrationClock({ integrationS: integration.chosenS, align: fields.align }, spectra.grid);
  const header = headerOf({}, observed, { channels, field: 'products.gains.channels' });
  const plan = await planGains({ path: recording.path, header, telescope }, { product: fields, discs });
  let solver: GainsSolver | undefined;
  let solved: SolvedGains | undefined;
  const { solutionsInto: inForce } = observed;
  const finish = async (making: Making): Promise<void> => {
    solved = solver?.finish();
    if (!solved) return;
    if (path === undefined && inForce) return;
    if (path !== undefined) await writeSolvedGains(path, solved, making.history);
    else
      await handingOver(
        making,
        'gains',
      )({ kind: 'gains', gains: gainsFileOf(solved, making.history), solved });
  };
  return {
    name: 'gains',
    clock,
    isCalibrated: false,
    parts: { cut: 'whole' },
    paths: path === undefined ? [] : pathsOfGains({ ...fields, gains: path }),
    facts: () => ({ solutions: solver?.count ?? 0, integration, solved }),
    make: (making) => {
      if (path === undefined && !inForce) handingOver(making, 'gains');
      const own = new GainsSolver(plan, {
        backend: making.backend,
        onFailed:
          inForce &&
          ((why) => {
            inForce.leave(`gains were not solved: ${why}; the gains before stay in force`);
          }),
      });
      solver = own;
      return Promise.resolve({
        composed: {
          from: 'integrations',
          clock,
          flags: { rules, channels },
          vanVleck: fields['van-vleck'] === true ? {} : undefined,
          stage: solving(own, inForce),
        },
        finish: () => finish(making),
        keep: async () => {
          const name = path ?? 'gains';
          if (own.count === 0) return `${name}: no gains were solved, and nothing was written`;
          await finish(making);
          return `${name} is whole and holds the ${own.count === 1 ? 'one solution that was' : `${own.count} solutions that were`} finished`;
        },
        abandon: () => Promise.resolve(),
      });
    },
  };
}

/** Emits a solution at the end of its interval; at the end of the data also that of the last interval. */
const solving = (solver: GainsSolver, inForce: GainsInForce | undefined): Stage<Integration, unknown> => ({
  push: async (integration) => {
    const began = performance.now();
    for (const made of await solver.add(integration)) inForce?.put(made, (performance.now() - began) / 1000);
  },
  flush: async () => {
    await solver.end();
  },
  account: () => ({}),
  close: () => solver.close(),
});
