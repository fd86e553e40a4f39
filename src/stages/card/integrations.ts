/**
 * Integrations that are on a card, where the correlator made them. Reading one on the host costs a copy; sums of them,
 * and images by the flat method, need none.
 */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type { DeviceMemory } from '../../backend/cuda/session.js';
import { downloadInto } from '../../backend/cuda/transfer.js';
import { visibilitiesCBPP } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { preparing } from '../../core/closing.js';
import { coversStations, type SpectraGap } from '../../core/gaps.js';
import { SampleCounter } from '../../core/presence/sample-counter.js';
import { planCorrelation, type CorrelatePlan } from '../../correlate/index.js';
import { prepareCountSpreader, prepareCudaCorrelator, prepareLongSums } from '../../correlate/on-card.js';
import type { IntegrationClock, SpectrumGrid } from '../clock.js';
import { makePowersReal, type CorrelateSettings } from '../correlate.js';
import { overRanges, type TimedSpectra } from '../spectra.js';
import { emptyAccount, type Stage } from '../stage.js';
import { prepareSum } from '../sum.js';

type Values = Pick<Integration, 'visibilities' | 'counts' | 'productCounts'>;

/** Data added by a block. */
interface Added {
  readonly samples: number;
  readonly gaps: readonly SpectraGap[];
}

/** Valid until the next spectra are correlated, in order on the compute stream. */
interface CardSums {
  /** visibilities : [c][b][p_i][p_j], complex float64, sums over samples. */
  readonly visibilities: DeviceMemory;
  /** counts : [c][b] float64; undefined where the products of a pair count apart. */
  counts(): Promise<DeviceMemory | undefined>;
  readonly blocks: readonly Added[];
  /** New arrays; the same for each caller. */
  read(): Promise<Values>;
}

export interface CardIntegration extends Omit<Integration, keyof Values> {
  readonly onCard: CardSums;
}

export const isOnCard = (item: Integration | CardIntegration): item is CardIntegration => 'onCard' in item;

/** The same on the host. */
export async function onHost(item: Integration | CardIntegration): Promise<Integration> {
  if (!isOnCard(item)) return item;
  const { onCard, ...rest } = item;
  return { ...rest, ...(await onCard.read()) };
}

interface CardCorrelateSettings extends CorrelateSettings {
  readonly backend: CudaBackend;
}

interface CardCorrelator extends Stage<TimedSpectra, CardIntegration> {
  readonly plan: CorrelatePlan;
}

/** Spectra to integrations, which stay on the card until the next spectra come. */
export const prepareCardCorrelate = ({
  backend,
  spectra: { type, channels, inputs },
  polarisations,
  grid,
  flaggedInputs,
}: CardCorrelateSettings): Promise<CardCorrelator> =>
  preparing(async (closers) => {
    const stations = inputs / polarisations;
    const plan = planCorrelation({ stations, polarisations, channels, type, flaggedInputs });
    const correlator = closers.keep(await prepareCudaCorrelator(plan, backend));
    const { session, meter } = backend;
    const { compute } = session.streams;
    const counter = new SampleCounter(plan, plan.flaggedInputs);
    const counted = (blocks: readonly Added[]): SampleCounter => {
      counter.restart();
      for (const { samples, gaps } of blocks) counter.add(samples, gaps);
      return counter;
    };
    const spreader = closers.keep(await prepareCountSpreader(plan, backend));
    /** Samples of the integration without gaps whose counts are on the card: the next one mostly has the same. */
    let spread: number | undefined;

    async function countsOnCard(blocks: readonly Added[]): Promise<DeviceMemory | undefined> {
      if (!blocks.every(({ gaps }) => gaps.every((gap) => coversStations(gap, polarisations))))
        return undefined;
      const { samples, isGapless } = counted(blocks);
      if (isGapless && samples === spread) return spreader.counts;
      await spreader.spread(counter.finishRows());
      spread = isGapless ? samples : undefined;
      return spreader.counts;
    }

    async function read(blocks: readonly Added[]): Promise<Values> {
      const values = new Float64Array(2 * channels * plan.baselines * polarisations ** 2);
      await downloadInto(session, correlator.totals, values);
      meter.downloaded(values.byteLength);
      const visibilities = visibilitiesCBPP(values, channels, plan.baselines, polarisations);
      if (type === 'cf32') makePowersReal(visibilities, plan);
      return { visibilities, ...counted(blocks).finishProducts() };
    }

    const account = emptyAccount();
    let added: Added[] = [];
    return {
      plan,
      ...overRanges({
        add: async ({ block }) => {
          await meter.around('correlate', compute, () => correlator.accumulate(block));
          added.push({ samples: block.samples, gaps: block.gaps });
        },
        finish: ({ firstIndex, start }, endIndex) => {
          meter.around('correlate', compute, () => {
            correlator.finishOnDevice();
          });
          account.integrations++;
          const blocks = added;
          added = [];
          let values: Promise<Values> | undefined;
          return Promise.resolve({
            start,
            durationS: (endIndex - firstIndex) / grid.spectrumRateHz,
            channels,
            stations,
            polarisations,
            flaggedInputs: plan.flaggedInputs,
            onCard: {
              visibilities: correlator.totals,
              blocks,
              counts: () => countsOnCard(blocks),
              read: () => (values ??= read(blocks)),
            },
          });
        },
      }),
      account: () => account,
      close: () => closers.close(),
    };
  });

/** Short integrations to long ones on the card: only the long ones are copied to the host. */
export const prepareCardSum = (
  clock: IntegrationClock,
  grid: SpectrumGrid,
  plan: CorrelatePlan,
  backend: CudaBackend,
): Promise<Stage<CardIntegration, Integration>> =>
  preparing(async (closers) => {
    const sums = closers.keep(await prepareLongSums(plan, backend));
    const { meter, session } = backend;
    const counter = new SampleCounter(plan, plan.flaggedInputs);
    const stage = prepareSum<CardIntegration>(clock, grid, {
      add: ({ onCard }) => {
        meter.around('sum', session.streams.compute, () => {
          sums.add(onCard.visibilities);
        });
        for (const { samples, gaps } of onCard.blocks) counter.add(samples, gaps);
      },
      finish: async (first) => {
        const counts = counter.finishProducts();
        const visibilities = await sums.finish();
        meter.downloaded(visibilities.byteLength);
        if (plan.type === 'cf32') makePowersReal(visibilities, plan);
        const { start, durationS, flaggedInputs } = first;
        const { channels, stations, polarisations } = plan;
        return {
          start,
          durationS,
          channels,
          stations,
          polarisations,
          flaggedInputs,
          visibilities,
          ...counts,
        };
      },
    });
    return { ...stage, close: () => closers.close() };
  });
