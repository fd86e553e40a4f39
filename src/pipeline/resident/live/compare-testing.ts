/** One session by the chain on a card and by the reference's stages: what both make, side by side. */
import { openReference } from '../../../backend/reference.js';
import type { CudaBackend } from '../../../backend/cuda/cuda.js';
import { gainsCA } from '../../../core/axes.js';
import type { Integration } from '../../../core/blocks.js';
import type { Instant } from '../../../core/instant.js';
import type { KurtosisAccount, KurtosisTally } from '../../../kurtosis/index.js';
import { randomStream } from '../../../core/random.js';
import { trialSource, type Trial } from '../../../receive/testing/trial-source.js';
import { loadTelescope } from '../../../telescope/load.js';
import { selectStations } from '../../../telescope/select.js';
import { runSession, type LiveImaging, type LiveSettings } from '../../live/chain.js';
import type { SkyImage } from '../../sky-image.js';
import type { Account } from '../../stages/stage.js';
import { prepareLiveCard } from './card.js';

export interface Made {
  readonly images: readonly SkyImage[];
  readonly integrations: readonly Integration[];
  readonly empty: number;
  readonly account: Account;
  readonly interference?: KurtosisAccount | undefined;
}

export interface LiveTrial extends Trial {
  readonly road: 'visibilities' | 'direct' | 'none';
  readonly everyS: number;
  readonly integrationS: number;
  readonly gains?: 'random';
  readonly flagged?: readonly number[];
  readonly weight?: 'natural' | 'uniform';
  /** Interference is looked for in windows of so many spectra, taken beyond so many sigmas. */
  readonly kurtosis?: { readonly spectraPerWindow: number; readonly sigmas: number };
}

/** The session's tally, where interference is looked for. */
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
    trial.road === 'none'
      ? undefined
      : {
          ...{ everyS: trial.everyS, road: trial.road, weight: trial.weight ?? 'natural' },
          image: { pixels: 64, field: { kind: 'all-sky' }, kernelSize: 5 },
          ...(trial.gains && { calibrated: { gains: gainsCA(gains, channels, inputs), solved } }),
        };
  const flaggedInputs = new Uint8Array(inputs);
  for (const input of trial.flagged ?? []) flaggedInputs[input] = 1;
  return {
    ...{ telescope, frequenciesHz, flaggedInputs, align: 'utc', integrationS: trial.integrationS },
    ...(imaging && { imaging }),
    ...(trial.kurtosis && {
      kurtosis: { ...trial.kurtosis, takes: 'stations', onPlan: (_plan, tally) => (held.tally = tally) },
    }),
  };
}

async function runTrial(trial: LiveTrial, settings: LiveSettings, held: Held): Promise<Made> {
  const images: SkyImage[] = [];
  const integrations: Integration[] = [];
  let empty = 0;
  const account = await runSession(trialSource(trial), settings, {
    image: (sky) => {
      images.push({ ...sky, image: sky.image.slice() as typeof sky.image });
      // Whatever the next image leaves unwritten would be this.
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

export async function byReference(trial: LiveTrial): Promise<Made> {
  const held: Held = {};
  return runTrial(trial, { ...(await settingsOf(trial, held)), backend: openReference() }, held);
}

/** `about`: the moment for which images are planned, before the first packet comes. */
export async function byCard(trial: LiveTrial, backend: CudaBackend, about?: Instant): Promise<Made> {
  const source = trialSource(trial);
  const held: Held = {};
  const settings = await settingsOf(trial, held);
  const card = await prepareLiveCard({
    ...{ ...settings, backend, ring: source.ring, polarisations: 2, about: about ?? source.start },
    say: () => undefined,
  });
  if (!card) throw new Error('a card can turn these');
  try {
    return await runTrial(trial, { ...settings, backend, card }, held);
  } finally {
    await card.close();
  }
}

/** Blocks of 250 spectra that no image's end falls on; one that never comes; a tenth of the cells missing. */
export const boards = {
  ...{ slotsPerBlock: 250, blocks: 5, spectrumRateHz: 25_000, skipped: [3], missingPercent: 10 },
  ...{ everyS: 0.006, integrationS: 0.012 },
} as const;
