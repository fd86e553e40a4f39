/** One stream epoch on a backend and on the reference: the results of both. */
import type { Backend } from '../backend/backend.js';
import { gainsCA } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import type { KurtosisAccount, KurtosisTally } from '../kurtosis/index.js';
import { randomStream } from '../core/random.js';
import { trialSource, type Trial } from '../receive/testing/trial-source.js';
import { loadTelescope } from '../telescope/load.js';
import { selectStations } from '../telescope/select.js';
import { runStreamEpoch, type LiveImaging, type LiveSettings } from './chain.js';
import type { SkyImage, Account } from '../stages/index.js';
import { Steering } from './steering.js';

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

/** The stream epoch's tally, if kurtosis is tested. */
interface Held {
  tally?: KurtosisTally;
}

async function settingsOf(trial: LiveTrial, held: Held): Promise<Omit<LiveSettings, 'backend'>> {
  const source = trialSource(trial);
  const { inputs, channels, frequenciesHz } = source;
  const telescope = selectStations(await loadTelescope('lwasv'), inputs / 2);
  const random = randomStream(11, 'gains');
  const solved = Uint8Array.from({ length: channels * inputs }, () => (random.below(10) > 0 ? 1 : 0));
  const gains = Float64Array.from({ length: 2 * channels * inputs }, () => 0.5 + random.uniform());
  const imaging: LiveImaging | undefined =
    trial.by === 'none'
      ? undefined
      : {
          everyS: trial.everyS,
          by: trial.by,
          method: 'flat',
          weight: trial.weight ?? 'natural',
          image: { pixels: 64, field: { kind: 'all-sky' }, kernelSize: 5 },
          ...(trial.gains && { calibrated: { gains: gainsCA(gains, channels, inputs), solved } }),
        };
  const flaggedInputs = new Uint8Array(inputs);
  for (const input of trial.flagged ?? []) flaggedInputs[input] = 1;
  const { steered, integrationS } = trial;
  const calibrated = imaging?.calibrated;
  return {
    telescope,
    frequenciesHz,
    flaggedInputs,
    align: 'utc',
    integrationS,
    imaging,
    ...(steered && {
      steering: new Steering({
        flaggedInputs,
        integrationS,
        calibrated,
        logged: [
          {
            epoch: 0,
            spectrum: steered.fromSpectrum,
            change: { flags: { inputs: [steered.input], flag: true } },
          },
        ],
      }),
    }),
    ...(trial.kurtosis && {
      kurtosis: { ...trial.kurtosis, takes: 'stations', onPlan: (_plan, tally) => (held.tally = tally) },
    }),
  };
}

async function runTrial(trial: LiveTrial, settings: LiveSettings, held: Held): Promise<Made> {
  const images: SkyImage[] = [];
  const integrations: Integration[] = [];
  let empty = 0;
  const account = await runStreamEpoch(trialSource(trial), settings, {
    image: (sky) => {
      images.push({ ...sky, image: sky.image.slice() as typeof sky.image });
      // Detects pixels that the next image does not write.
      sky.image.fill(12_345);
      return Promise.resolve();
    },
    integration: (one) => {
      integrations.push(one);
      return Promise.resolve();
    },
    noImage: () => {
      empty++;
    },
  });
  return { images, integrations, empty, account, interference: held.tally?.account() };
}

/** The products of a backend for the trial. */
export async function madeBy(backend: Backend, trial: LiveTrial): Promise<Made> {
  const held: Held = {};
  return runTrial(trial, { ...(await settingsOf(trial, held)), backend }, held);
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
