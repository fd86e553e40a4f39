/** Which sky frequencies a stream holds, where its packets number channels from a known place. */
import { refuse } from '../core/errors.js';
import { numberOf } from '../core/clock/rational.js';
import { CHIPS_CHANNEL_HZ } from '../packets/chips.js';
import type { StreamPlan } from '../packets/packet-format.js';

export interface SpectraBand {
  /** frequenciesHz : [c], the middle of each channel. */
  readonly frequenciesHz: Float64Array;
  readonly channelWidthHz: number;
}
export interface VoltageBand {
  /** Of the middle of the band. */
  readonly centreFrequencyHz: number;
}
export type Band = SpectraBand | VoltageBand;

const MWA_COARSE_HZ = 1_280_000;

const stepped = (channels: number, firstHz: number, stepHz: number): SpectraBand => ({
  frequenciesHz: Float64Array.from({ length: channels }, (_, c) => firstHz + c * stepHz),
  channelWidthHz: stepHz,
});

/** Undefined where only the operator knows. */
export function bandOf({ format, channels, numbers, tickRateHz }: StreamPlan): Band | undefined {
  switch (format) {
    case 'chips':
      return stepped(channels, numbers.firstChannel * CHIPS_CHANNEL_HZ, CHIPS_CHANNEL_HZ);
    case 'snap2': {
      // Critically sampled: a spectrum lasts as long as a channel is narrow.
      const stepHz = tickRateHz && numberOf(tickRateHz);
      return stepHz === undefined ? undefined : stepped(channels, numbers.firstChannel * stepHz, stepHz);
    }
    case 'mwa':
      return { centreFrequencyHz: numbers.coarseChannel * MWA_COARSE_HZ };
    case 'spead-feng':
    case 'spead-digitiser':
    case 'vdif':
    case 'vdif-vtp':
      return undefined;
  }
}

/** What was given, or what the packets' numbers mean; refused where it does not fit. */
export function knownBand(stream: StreamPlan, given: Band | undefined): Band {
  const band = given ?? bandOf(stream);
  if (!band) {
    refuse(stream.format, 'its packets do not tell their sky frequency', 'give it with --frequency');
  }
  const isSpectra = 'frequenciesHz' in band;
  if (isSpectra !== (stream.holds === 'spectra')) {
    refuse(
      stream.format,
      `its packets hold ${stream.holds}`,
      isSpectra ? 'give the middle of the band' : 'give the frequency of each channel',
    );
  }
  if (isSpectra && band.frequenciesHz.length !== stream.channels) {
    refuse(
      stream.format,
      `${band.frequenciesHz.length} frequencies for ${stream.channels} channels`,
      'give one for each channel',
    );
  }
  return band;
}
