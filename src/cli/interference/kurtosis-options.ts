/** Interference flagged in voltages: what was asked for, and what came of it. */
import { refuse } from '../../core/errors.js';
import type { KurtosisAccount, KurtosisPlan, KurtosisTally } from '../../kurtosis/index.js';
import type { RequestedKurtosis } from '../../stages/index.js';

export interface KurtosisOptions {
  readonly kurtosis?: number | true;
  readonly kurtosisSpectra?: number;
  readonly kurtosisOver?: 'each' | 'inputs';
  readonly kurtosisBursts?: 'keep' | 'take';
}

/** What was asked for, and afterwards what came of it. */
export interface KurtosisWork {
  /** Empty where nothing was asked for: spread it into settings. */
  readonly asked: { readonly kurtosis?: RequestedKurtosis };
  /** Once the work is done. */
  readonly told: () => KurtosisTold | undefined;
  /** Of each session of a night in which windows came. */
  readonly toldOfAll: () => readonly KurtosisTold[];
}

export interface KurtosisTold {
  readonly plan: KurtosisPlan;
  readonly account: KurtosisAccount;
}

export function kurtosisWork(options: KurtosisOptions): KurtosisWork {
  const { kurtosis, kurtosisSpectra, kurtosisOver, kurtosisBursts } = options;
  if (kurtosis === undefined) {
    if (kurtosisSpectra !== undefined || kurtosisOver !== undefined || kurtosisBursts !== undefined)
      refuse('--kurtosis-…', 'nothing was asked to look for interference', 'give --kurtosis too');
    return { asked: {}, told: () => undefined, toldOfAll: () => [] };
  }
  const kept: { readonly plan: KurtosisPlan; readonly tally: KurtosisTally }[] = [];
  const toldOf = ({ plan, tally }: (typeof kept)[number]): KurtosisTold => ({
    plan,
    account: tally.account(),
  });
  return {
    asked: {
      kurtosis: {
        ...(typeof kurtosis === 'number' ? { sigmas: kurtosis } : {}),
        ...(kurtosisSpectra === undefined ? {} : { spectraPerWindow: kurtosisSpectra }),
        ...(kurtosisOver && { over: kurtosisOver }),
        ...(kurtosisBursts && { bursts: kurtosisBursts }),
        onPlan: (plan, tally) => {
          kept.push({ plan, tally });
        },
      },
    },
    told: () => kept.slice(-1).map(toldOf).at(0),
    toldOfAll: () => kept.map(toldOf).filter(({ account }) => account.windows > 0),
  };
}
