/** Missing parts of a recording, and bad frames: no loss is silent. */
import { present } from '../../core/present.js';
import { assumedMessages } from './flags.js';
import { message, type Message } from '../../messages/index.js';
import { sampleRateOf, type EndsEarly, type FrameTally, type Recording } from '../../formats/index.js';

export function frameLines(tally: Readonly<FrameTally> | undefined): Message[] {
  if (!tally) return [];
  const { invalid, late, doubled, outside, spareBytes } = tally;
  return present(
    invalid > 0 && message('data.frames-invalid', { frames: invalid }),
    late > 0 && message('data.frames-late', { frames: late }),
    doubled > 0 && message('data.frames-duplicate', { frames: doubled }),
    outside > 0 && message('data.frames-outside', { frames: outside }),
    spareBytes > 0 && message('data.spare-bytes', { bytes: spareBytes }),
  );
}

export const earlyMessage = (early: EndsEarly, rateHz: number): Message =>
  message('data.ends-early', { ...early, missingS: early.missingSamples / rateHz });

/** For a recording read to its end; `then` describes how missing samples were treated. */
export function lossLines(recording: Recording, missingSamples: number, then: string): Message[] {
  const { tally, endsEarly, assumed } = recording;
  return present(
    ...assumedMessages(assumed),
    missingSamples > 0 &&
      message('data.missing', {
        samples: missingSamples,
        isOfChannels: recording.kind === 'spectra',
        then,
      }),
    ...frameLines(tally),
    endsEarly && earlyMessage(endsEarly, sampleRateOf(recording)),
  );
}

/** The same as JSON. */
export const lossFacts = ({ tally, endsEarly, assumed }: Recording, missingSamples: number) => ({
  missingSamples,
  frames: tally,
  endsEarly,
  assumed,
});

/** A larger fraction of clipped values distorts the products. */
const MUCH_CLIPPED = 0.01;

/** Requantised values that were clipped: real and imaginary parts, out of this many in all. */
export function railLines(saturated: number, numbers: number): Message[] {
  const part = saturated / numbers;
  return saturated === 0
    ? []
    : [message(part > MUCH_CLIPPED ? 'data.saturated-much' : 'data.saturated', { numbers: saturated, part })];
}
