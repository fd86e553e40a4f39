/** One stream epoch on a backend and on the reference: the results of both. */
import type { Backend } from '../backend/backend.js';
import { gainsCA } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import type { KurtosisAccount } from '../kurtosis/index.js';
import { randomStream } from '../core/random.js';
import { trialSource, type Trial } from '../receive/testing/trial-source.js';
import { loadTelescope } from '../telescope/load.js';
import { selectStations } from '../telescope/select.js';
import type { SkyImage, Account } from '../stages/index.js';
import { Steering } from './steering.js';
import { contextOf, runOn } from './testing.js';

export interface Made {
  readonly images: readonly SkyImage[];
  readonly integrations: readonly Integration[];
  readonly empty: number;
  readonly account: Account;
  readonly interference?: KurtosisAccount | undefined;
}

export interface LiveTrial extends Trial {
  readonly by: 'visibilities' | 'direct' | 'none';
  readonly everyS: number;
  readonly integrationS: number;
  readonly gains?: 'random';
  readonly flagged?: readonly number[];
  readonly weight?: 'natural' | 'uniform';
  /** An input that steering flags from this spectrum on. */
  readonly steered?: { readonly input: number; readonly fromSpectrum: number };
  /** Kurtosis is computed over windows of this many spectra and flagged beyond this many sigmas. */
  readonly kurtosis?: { readonly spectraPerWindow: number; readonly sigmas: number };
}

/** The products of a backend for the trial. */
export async function madeBy(backend: Backend, trial: LiveTrial): Promise<Made> {
  const source = trialSource(trial);
  const { inputs, channels } = source;
  const telescope = selectStations(await loadTelescope('lwasv'), inputs / 2);
  const random = randomStream(11, 'gains');
  const solved = Uint8Array.from({ length: channels * inputs }, () => (random.below(10) > 0 ? 1 : 0));
  const gains = Float64Array.from({ length: 2 * channels * inputs }, () => 0.5 + random.uniform());
  const calibrated = trial.gains && { gains: gainsCA(gains, channels, inputs), solved };
  const { by, everyS, flagged = [], integrationS, kurtosis, steered, weight } = trial;
  const context = await contextOf(source, {
    backend,
    telescope,
    calibrated,
    method: 'flat',
    products: [
      { visibilities: null, integration: integrationS },
      ...(by === 'none'
        ? []
        : [
            {
              images: null,
              every: everyS,
              method: by,
              pixels: 64,
              weights: weight ?? ('natural' as const),
            },
          ]),
    ],
    flags: {
      inputs: flagged.map(String),
      ...(kurtosis && { kurtosis: kurtosis.sigmas, 'kurtosis-spectra': kurtosis.spectraPerWindow }),
    },
  });
  const { flaggedInputs } = context.plan.observed;
  const change = steered && { flags: { inputs: [steered.input], flag: true } };
  const steering =
    steered &&
    change &&
    new Steering({
      flaggedInputs,
      integrationS,
      calibrated,
      logged: [{ epoch: 0, spectrum: steered.fromSpectrum, change }],
    });
  const images: SkyImage[] = [];
  const integrations: Integration[] = [];
  let empty = 0;
  const account = await runOn(
    source,
    // A card makes no integrations that nothing receives.
    { ...context, steering, onItem: () => Promise.resolve() },
    {
      image: (sky) => {
        images.push({ ...sky, image: sky.image.slice() as typeof sky.image });
        // Detects pixels that the next image does not write.
        sky.image.fill(12_345);
      },
      integration: (one) => void integrations.push(one),
      noImage: () => {
        empty++;
      },
    },
  );
  const interference = context.plan.kurtosis.at(-1)?.tally.account();
  return { images, integrations, empty, account, interference };
}

/** Blocks of 250 spectra, not aligned with images; one block missing; a tenth of the packet slots missing. */
export const boards = {
  slotsPerBlock: 250,
  blocks: 5,
  spectrumRateHz: 25_000,
  skipped: [3],
  missingPercent: 10,
  everyS: 0.006,
  integrationS: 0.012,
} as const;
