/**
 * Parts of a recording's work for many machines: some of its spectra, some of its channels (compose/range.ts). Sums come
 * out as the correlator leaves them; whoever merges them finishes them as a whole run would (compose/finish.ts).
 */
import type { Backend } from '../backend/backend.js';
import type { ChannelisePlan } from '../channelise/index.js';
import type { SpectraCAT } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import type { SpectraGap } from '../core/gaps.js';
import type { SampleRange } from '../core/sources.js';
import type { Recording, VoltageRecording } from '../formats/index.js';
import { observe, shareOf } from './compose/compose.js';
import { spectraOfFront, spectraOfSource, type Front } from './compose/front.js';
import type { SpectraRange } from './compose/range.js';
import {
  integrationClock,
  oneIntegration,
  type IntegrationClock,
  type IntegrationSettings,
} from './stages/clock.js';
import type { TimedSpectra } from './stages/spectra.js';
import { passing, type Account, type Emit } from './stages/stage.js';
import type { RequestedDelays } from './tracking.js';

export type { SpectraRange as SpectraBox } from './compose/range.js';

export interface PartSettings extends IntegrationSettings {
  readonly backend: Backend;
  readonly flaggedInputs?: Uint8Array;
  readonly delays?: RequestedDelays;
  readonly stop?: AbortSignal;
}

/** What was met on the way, of this part alone: over all parts it adds up to the whole's. */
export interface PartAccount {
  readonly missingSamples: number;
  readonly saturated: number;
}

/** Spectra in a recording. */
export const spectraOf = (recording: Recording, plan: ChannelisePlan | undefined): number =>
  spectraOfSource({ source: recording, channels: plan });

/** The stretches of [first, end) that a clock's cuts make. */
export function stretchesOf(clock: IntegrationClock, first: number, end: number): SampleRange[] {
  const stretches: SampleRange[] = [];
  for (let at = first; at < end;) {
    const cut = Math.min(clock.cutAfter(at), end);
    stretches.push({ first: at, end: cut });
    at = cut;
  }
  return stretches;
}

/** When a recording's integrations end. */
export const clockOf = (
  settings: IntegrationSettings,
  recording: Recording,
  plan: ChannelisePlan | undefined,
): IntegrationClock => integrationClock(settings, spectraOfFront({ source: recording, channels: plan }).grid);

/** Integrations, or what of them is in the range, in the order of `stretchesOf`. */
export async function correlatePart(
  recording: Recording,
  plan: ChannelisePlan | undefined,
  settings: PartSettings,
  range: SpectraRange,
  emit: Emit<Integration>,
): Promise<PartAccount> {
  const { backend, flaggedInputs, delays, stop } = settings;
  const front: Front = { source: recording, channels: plan, delays, flaggedInputs };
  const clock = clockOf(settings, recording, plan);
  const share = await shareOf({ front, flaggedInputs, products: [] }, backend, clock, range, emit);
  return partOf(await share.run({ stop }));
}

const partOf = ({ missingSamples, saturated }: Account): PartAccount => ({ missingSamples, saturated });

/** Spectra as a file gets them: all channels, in the canonical order, each in memory of its own. */
export interface MadeSpectra {
  readonly firstSpectrum: number;
  readonly samples: number;
  readonly spectra: SpectraCAT;
  readonly gaps: readonly SpectraGap[];
}

/** The channeliser alone, over some spectra. */
export async function channelisePart(
  recording: VoltageRecording,
  plan: ChannelisePlan,
  { backend, stop }: Pick<PartSettings, 'backend' | 'stop'>,
  range: SpectraRange,
  emit: Emit<MadeSpectra>,
): Promise<PartAccount> {
  const stage = passing<TimedSpectra>(async ({ block, index }) => {
    const { samples, gaps } = block;
    await emit({ firstSpectrum: index, samples, spectra: await block.read(), gaps });
  });
  const front = { source: recording, channels: plan, range };
  const products = [{ from: 'spectra', clock: oneIntegration, stage }] as const;
  return partOf(await observe({ front, products }, [backend], { stop }));
}
