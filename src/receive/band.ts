/** The sky frequencies of a stream, where its packets number channels from a known origin. */
import { refuse } from '../core/errors.js';
import type { Band, StreamPlan } from '../packets/packet-format.js';
import { packetFormatNamed } from '../packets/registry.js';

export type { Band } from '../packets/packet-format.js';

/** Undefined where only the operator can know them. */
export const bandOf = (plan: StreamPlan): Band | undefined => packetFormatNamed(plan.format).band?.(plan);

/** The given band, or the one derived from the packets' channel numbers; refused if the two disagree. */
export function knownBand(stream: StreamPlan, given: Band | undefined): Band {
  const band = given ?? bandOf(stream);
  if (!band) {
    refuse(stream.format, 'its packets do not carry their sky frequency', 'give it with source.frequency');
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
