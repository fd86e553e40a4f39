/** Spectra to integrations. */
import type { Backend } from '../backend/backend.js';
import type { VisibilitiesCBPP } from '../core/axes.js';
import type { Integration, SpectraShape } from '../core/blocks.js';
import { planCorrelation, prepareCorrelator, type CorrelatePlan } from '../correlate/index.js';
import type { SpectrumGrid } from './clock.js';
import { overRanges, type TimedSpectra } from './spectra.js';
import { emptyAccount, type Stage } from './stage.js';

export interface CorrelateSettings {
  readonly backend: Backend;
  readonly spectra: Pick<SpectraShape, 'type' | 'channels' | 'inputs'>;
  readonly polarisations: 1 | 2;
  readonly grid: Pick<SpectrumGrid, 'spectrumRateHz'>;
  readonly flaggedInputs?: Uint8Array;
}

/** The receiver may keep the arrays of an integration. */
export async function prepareCorrelate(
  settings: CorrelateSettings,
): Promise<Stage<TimedSpectra, Integration>> {
  const { backend, polarisations, grid, flaggedInputs } = settings;
  const { type, channels, inputs } = settings.spectra;
  const correlator = await prepareCorrelator(
    planCorrelation({ stations: inputs / polarisations, polarisations, channels, type, flaggedInputs }),
    backend,
  );
  const { plan } = correlator;
  const account = emptyAccount();
  return {
    ...overRanges({
      add: ({ block }) => correlator.accumulate(block),
      finish: async ({ firstIndex, start }, endIndex) => {
        const { visibilities, counts, productCounts } = await correlator.finish();
        if (type === 'cf32') makePowersReal(visibilities, plan);
        account.integrations++;
        return {
          start,
          durationS: (endIndex - firstIndex) / grid.spectrumRateHz,
          channels,
          stations: plan.stations,
          polarisations,
          visibilities,
          counts,
          ...(productCounts && { productCounts }),
          flaggedInputs: plan.flaggedInputs,
        };
      },
    }),
    account: () => account,
    close: () => correlator.close(),
  };
}

/** x·conj(x) has no imaginary part, and readers of files check it; floats leave a rounding error there. */
export function makePowersReal(
  visibilities: VisibilitiesCBPP,
  { channels, stations, polarisations }: CorrelatePlan,
): void {
  const products = polarisations ** 2;
  const baselines = (stations * (stations + 1)) / 2;
  for (let c = 0; c < channels; c++)
    for (let s = 0; s < stations; s++)
      for (let p = 0; p < polarisations; p++)
        visibilities[2 * ((c * baselines + (s * (s + 3)) / 2) * products + p * (polarisations + 1)) + 1] = 0;
}
