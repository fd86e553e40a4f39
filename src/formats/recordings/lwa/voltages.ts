/** LWA time-domain recordings: TBN (every stand, 8+8 bits, narrow band), DRX (a beam, 4+4 bits) and DRX8 (8+8 bits). */
import { recurring } from '../../../core/recurring.js';
import { refuse } from '../../../core/errors.js';
import { highNibble, lowNibble } from '../../../core/nibbles.js';
import { formatInstant } from '../../../core/instant.js';
import { sendersSideBySide } from '../../../core/presence/presence.js';
import { formatHz } from '../../../core/units.js';
import type { OpenOptions, VoltageRecording } from '../../format.js';
import { emptyTally, plausibleSamples, readFrames, type Frame } from '../frames.js';
import type { InputFile } from '../../io/input.js';
import { framedVoltages, polarisationsFor } from '../recording.js';
import { unknownFactsOf } from '../../unknown-facts.js';
import { CLOCK_HZ, instantOfTag, lwaReading, tuningHz, headersAtEnds, type LwaShape } from './frame.js';
import { commonStep, tagSpan, type TagSpan } from './times.js';

/** A tuning word of zero is not a frequency: the user's value is used instead. */
const tunedHz = (word: number, { centreFrequencyHz }: OpenOptions): number | undefined =>
  word === 0 ? centreFrequencyHz : tuningHz(word);

/**
 * Checks each frame against the first one's tuning. One frame with another word is damaged; two mean that the receiver
 * was retuned: the following samples are of another band.
 */
function tuningWatch(
  path: string,
  word: number,
): (frame: { readonly word: number; readonly tag: bigint }) => boolean {
  let other: number | undefined;
  return (frame) => {
    if (frame.word !== word && frame.word === other)
      refuse(
        path,
        `is tuned anew at ${formatInstant(instantOfTag(frame.tag), 6)}, from ${formatHz(tuningHz(word), 9)} to ${formatHz(tuningHz(other), 9)}`,
        'split the recording where the tuning changes',
      );
    other = frame.word === word ? undefined : frame.word;
    return frame.word === word;
  };
}

/** Samples of each input between the first and the last time tag, from clock ticks. */
const samplesOver = (
  file: InputFile,
  shape: LwaShape,
  span: TagSpan,
  frame: { readonly ticksPerSample: number; readonly samples: number },
): number =>
  plausibleSamples(
    file.path,
    Math.floor(span.lastTicks / frame.ticksPerSample) + frame.samples,
    Math.ceil(file.sizeBytes / shape.frameBytes) * frame.samples,
  );

/** The metadata common to these voltage recordings. */
const headOf = (
  file: InputFile,
  shape: LwaShape,
  { telescope }: OpenOptions,
  mode: 'TBN' | 'DRX' | 'DRX8',
  details: Readonly<Record<string, unknown>>,
) => ({
  path: file.path,
  format: 'lwa',
  type: 'ci8' as const,
  telescope,
  details: {
    mode,
    frames: Math.floor(file.sizeBytes / shape.frameBytes),
    frameBytes: shape.frameBytes,
    ...details,
  },
});

/** Samples of 8 + 8 bits of a frame. */
const pairsOf = ({ payload }: Frame, from: number, count: number): Int8Array =>
  new Int8Array(payload.buffer, payload.byteOffset + 2 * from, 2 * count);

const TBN_SAMPLES = 512;
/** Bit 15 marks a wide-band frame; the rest is the number of stand and polarisation, from 1. */
const tbnInput = (view: DataView, at: number): number => (view.getUint16(at + 12) & 0x3fff) - 1;

/** X and Y of a stand form a station; a single one has no partner. */
function standPolarisations(path: string, ids: readonly number[], options: OpenOptions): 1 | 2 {
  const lone = ids.filter((id) => !ids.includes(id ^ 1));
  const isOneHand = ids.every((id) => id % 2 === ids[0] % 2);
  const wanted = options.polarisations ?? options.telescope?.polarisations;
  const isAskedFor = wanted === 1 || (isOneHand && wanted === undefined);
  if (lone.length > 0 && !isAskedFor) {
    const names = lone
      .slice(0, 4)
      .map((id) => `${id % 2 === 0 ? 'Y' : 'X'} of stand ${Math.floor(id / 2) + 1}`);
    refuse(
      path,
      `lacks ${names.join(', ')}${lone.length > names.length ? ` and ${lone.length - names.length} more` : ''}`,
      'give source.polarisations: 1 to read single inputs',
    );
  }
  return polarisationsFor(path, ids.length, lone.length === 0 ? 2 : 1, options);
}

/** For TBN: from the time tags, or from the user, whose frames must then fit between the tags. */
function ticksPerSample(path: string, tagged: number, { sampleRateHz }: OpenOptions): number {
  const said = sampleRateHz === undefined ? undefined : CLOCK_HZ / sampleRateHz;
  const step = said ?? tagged;
  if (!Number.isInteger(step) || step < 1)
    refuse(path, 'its time tags do not determine the sample rate', 'give it with source.rate');
  if (said !== undefined && tagged >= 1 && tagged % said !== 0)
    refuse(
      path,
      `its time tags state ${formatHz(CLOCK_HZ / tagged)}`,
      'leave out source.rate, which is for files whose tags do not state it',
    );
  return step;
}

export async function openTbn(
  file: InputFile,
  shape: LwaShape,
  options: OpenOptions,
): Promise<VoltageRecording> {
  const { path } = file;
  const seen = await headersAtEnds(file, shape, (view, at) => ({
    tag: view.getBigUint64(at + 16),
    id: tbnInput(view, at),
    word: view.getUint32(at + 8),
  }));
  const tags = seen.map(({ tag }) => tag);
  const [{ word }] = seen;
  const step = ticksPerSample(path, commonStep(tags) / TBN_SAMPLES, options);
  const centreHz = tunedHz(word, options);
  const isTuned = tuningWatch(path, word);
  seen.forEach(isTuned);
  const inputsAt = recurring(seen.map(({ id }) => id));
  const senderOf = new Map(inputsAt.map((id, sender) => [id, sender]));
  const inputs = inputsAt.length;
  const frameTicks = step * TBN_SAMPLES;
  const span = tagSpan(tags, 64 * frameTicks);
  const samples = samplesOver(file, shape, span, { ticksPerSample: step, samples: TBN_SAMPLES });
  const sampleRateHz = CLOCK_HZ / step;
  const tally = emptyTally();
  const reading = lwaReading(file, shape, tally, (view, at, payload) => {
    const sender = senderOf.get(tbnInput(view, at));
    const tag = view.getBigUint64(at + 16);
    const firstSample = Number(tag - span.first) / step;
    const isGood = isTuned({ word: view.getUint32(at + 8), tag });
    if (!isGood || sender === undefined || !Number.isInteger(firstSample)) return 'invalid';
    return { sender, firstSample, samples: TBN_SAMPLES, payload };
  });
  // A clock that was never set counts from power-on, near the beginning of 1970.
  const clockSet = span.first > BigInt(CLOCK_HZ) * 1_000_000_000n;
  return framedVoltages(
    {
      ...headOf(file, shape, options, 'TBN', {
        stands: [...new Set(inputsAt.map((id) => Math.floor(id / 2) + 1))],
        firstTimeTag: String(span.first),
        clockSet,
      }),
      inputs,
      polarisations: standPolarisations(path, inputsAt, options),
      samples,
      sampleRateHz,
      ...unknownFactsOf({
        frequency: centreHz === undefined,
        start: options.start === undefined && !clockSet,
      }),
      centreFrequencyHz: centreHz ?? 0,
      start: clockSet ? instantOfTag(span.first) : (options.start ?? instantOfTag(span.first)),
    },
    {
      file,
      tally,
      senders: sendersSideBySide(inputs, 1, 1),
      batches: () => readFrames(reading),
      unpack: (frame, from, { elements, stride, at, count }) => {
        elements.set(pairsOf(frame, from, count), (frame.sender * stride + at) * 2);
      },
    },
  );
}

const DRX_SAMPLES = 4096;

interface DrxFrame {
  readonly beam: number;
  readonly tuning: number;
  readonly polarisation: number;
  readonly decimation: number;
  readonly offset: number;
  /** Corrected for the delay of the digital filters, as measured by the station. */
  readonly tag: bigint;
  readonly word: number;
}

function drxFrame(view: DataView, at: number): DrxFrame {
  const id = view.getUint8(at + 4);
  return {
    beam: id & 7,
    tuning: (id >>> 3) & 7,
    polarisation: id >>> 7,
    decimation: view.getUint16(at + 12),
    offset: view.getUint16(at + 14),
    tag: view.getBigUint64(at + 16) - BigInt(view.getUint16(at + 14)),
    word: view.getUint32(at + 24),
  };
}

export async function openDrx(
  file: InputFile,
  shape: LwaShape,
  options: OpenOptions,
): Promise<VoltageRecording> {
  const { path } = file;
  const seen = await headersAtEnds(file, shape, drxFrame);
  const tuning = options.tuning ?? 1;
  const beams = recurring(seen.map((frame) => frame.beam));
  if (beams.length > 1)
    refuse(path, `holds frames of beams ${beams.join(' and ')}`, 'give each beam its own file');
  const [beam] = beams;
  const mine = seen.filter((frame) => frame.tuning === tuning && frame.beam === beam && frame.decimation > 0);
  if (mine.length === 0) {
    refuse(
      path,
      `holds nothing of tuning ${tuning}`,
      `it holds ${[...new Set(seen.map((frame) => frame.tuning))].join(', ')}`,
    );
  }
  const { decimation, word, offset } = mine[0];
  const isTuned = tuningWatch(path, word);
  mine.forEach(isTuned);
  const polarisationsAt = recurring(mine.map((frame) => frame.polarisation));
  const span = tagSpan(
    mine.map((frame) => frame.tag),
    64 * DRX_SAMPLES * decimation,
  );
  const samples = samplesOver(file, shape, span, { ticksPerSample: decimation, samples: DRX_SAMPLES });
  const tally = emptyTally();
  const reading = lwaReading(file, shape, tally, (view, at, payload) => {
    const frame = drxFrame(view, at);
    if (frame.beam !== beam) return 'invalid';
    if (frame.tuning !== tuning) return 'other';
    const sender = polarisationsAt.indexOf(frame.polarisation);
    const firstSample = Number(frame.tag - span.first) / decimation;
    if (!isTuned(frame)) return 'invalid';
    if (sender < 0 || frame.decimation !== decimation || !Number.isInteger(firstSample)) return 'invalid';
    return { sender, firstSample, samples: DRX_SAMPLES, payload };
  });
  const inputs = polarisationsAt.length;
  const centreHz = tunedHz(word, options);
  return framedVoltages(
    {
      ...headOf(file, shape, options, shape.kind === 'drx8' ? 'DRX8' : 'DRX', {
        beam,
        tuning,
        tunings: recurring(seen.map((frame) => frame.tuning)),
        decimation,
        firstTimeTag: String(span.first + BigInt(offset)),
        timeOffset: offset,
      }),
      bits: shape.kind === 'drx8' ? 8 : 4,
      inputs,
      polarisations: polarisationsFor(path, inputs, inputs === 2 ? 2 : 1, options),
      samples,
      sampleRateHz: CLOCK_HZ / decimation,
      ...unknownFactsOf({ frequency: centreHz === undefined }),
      centreFrequencyHz: centreHz ?? 0,
      start: instantOfTag(span.first),
    },
    {
      file,
      tally,
      senders: sendersSideBySide(inputs, 1, 1),
      batches: () => readFrames(reading),
      unpack: (frame, from, { elements, stride, at, count }) => {
        let out = (frame.sender * stride + at) * 2;
        if (shape.kind === 'drx8') {
          elements.set(pairsOf(frame, from, count), out);
          return;
        }
        for (let t = from; t < from + count; t++) {
          const byte = frame.payload[t];
          elements[out++] = highNibble(byte);
          elements[out++] = lowNibble(byte);
        }
      },
    },
  );
}
