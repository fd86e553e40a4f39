/** Writes SigMF recordings, voltages or channelised data; both files appear together or not at all. */
import { createHash } from 'node:crypto';
import {
  spectraSizeBytes,
  voltageSizeBytes,
  type SpectraType,
  type VoltageType,
} from '../../../core/axes.js';
import type { VoltageBlock } from '../../../core/blocks.js';
import { refuse, wholeNumber } from '../../../core/errors.js';
import type { SpectraGap } from '../../../core/gaps.js';
import { addSamples, formatInstant, secondsBetween, type Instant } from '../../../core/instant.js';
import type { Telescope } from '../../../telescope/telescope.js';
import type { CanonicalSpectra, UnknownFact } from '../../format.js';
import { turn, type SampleBytes } from '../../io/interleave.js';
import { openOutputSet } from '../../io/output.js';
import { EXTENSION_VERSION, sigmfPaths, spectraDatatypes, voltageDatatypes } from './meta.js';
import { isUnknown } from '../../unknown-facts.js';

interface CommonHeader {
  /** Written in full, so that the recording is self-contained. */
  readonly telescope?: Telescope;
  readonly inputs: number;
  readonly polarisations: 1 | 2;
  /** Original bits per number, if fewer than those of `type`: they give full scale. */
  readonly bits?: number;
  readonly centreFrequencyHz: number;
  readonly start: Instant;
  /** Which of these two are placeholders: they are omitted from the metadata, so that no reader trusts them. */
  readonly unknownFacts?: readonly UnknownFact[];
  readonly description?: string;
  readonly history?: readonly string[];
  /** Further metadata (a seed, true gains): each key becomes `corella:key`. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

export interface SigmfHeader extends CommonHeader {
  readonly type: VoltageType;
  readonly sampleRateHz: number;
}

export interface SigmfSpectraHeader extends CommonHeader {
  readonly type: SpectraType;
  readonly channels: number;
  readonly spectrumRateHz: number;
  readonly frequenciesHz: Float64Array;
  readonly channelWidthHz: number;
  /** levels : [a][c], the gain before rounding relative to the nominal one; by default 1. */
  readonly levels?: readonly number[];
  /** As in a source of spectra. */
  readonly realChannels?: number;
  /** The same as one gain for all. */
  readonly gainRatio?: number;
}

interface RecordingWriter<Block> {
  /** Blocks are consecutive in time; one that starts late leaves a gap, which is recorded. */
  append(block: Block): Promise<void>;
  finish(): Promise<void>;
  abandon(): Promise<void>;
}

/** Creates a recording of voltages; both files appear when it is finished. */
export async function createSigmf(path: string, header: SigmfHeader): Promise<RecordingWriter<VoltageBlock>> {
  const writer = await createFrames(path, {
    header,
    channels: 1,
    datatype: voltageDatatypes[header.type],
    rateHz: header.sampleRateHz,
    sampleBytes: voltageSizeBytes(header.type) as SampleBytes,
    keys: {},
  });
  return {
    ...writer,
    append: (block) => {
      if (block.type !== header.type || block.inputs !== header.inputs) {
        refuse(
          path,
          `a block of ${block.inputs} × ${block.type} in a recording of ${header.inputs} × ${header.type}`,
          'one recording holds one kind of sample',
        );
      }
      const gaps = block.gaps.map((gap) => ({ ...gap, firstChannel: 0, endChannel: 1 }));
      return writer.append({ ...block, elements: block.voltages, gaps });
    },
  };
}

/** The same for channelised data. */
export async function createSigmfSpectra(
  path: string,
  header: SigmfSpectraHeader,
): Promise<RecordingWriter<CanonicalSpectra>> {
  if (header.frequenciesHz.length !== header.channels) {
    refuse(
      path,
      `${header.frequenciesHz.length} frequencies for ${header.channels} channels`,
      'give one a channel',
    );
  }
  const writer = await createFrames(path, {
    header,
    channels: header.channels,
    datatype: spectraDatatypes[header.type],
    rateHz: header.spectrumRateHz,
    sampleBytes: spectraSizeBytes(header.type) as SampleBytes,
    keys: {
      'corella:spectra_type': header.type,
      'corella:channels': header.channels,
      // For a band of unknown position, relative to its centre.
      'corella:frequencies_hz': Array.from(
        header.frequenciesHz,
        (hz) => hz - (isUnknown(header, 'frequency') ? header.centreFrequencyHz : 0),
      ),
      'corella:channel_width_hz': header.channelWidthHz,
      'corella:spectrum_rate_hz': header.spectrumRateHz,
      'corella:order': '[t][c][a]',
      ...(header.realChannels !== undefined && { 'corella:real_channels': header.realChannels }),
      ...(header.gainRatio !== undefined &&
        header.gainRatio !== 1 && { 'corella:gain_over_usual': header.gainRatio }),
      ...(header.levels && {
        'corella:levels': Array.from({ length: header.inputs }, (_, a) =>
          header.levels?.slice(a * header.channels, (a + 1) * header.channels),
        ),
      }),
    },
  });
  return { ...writer, append: (block) => writer.append({ ...block, elements: block.spectra }) };
}

interface FramesHeader {
  readonly header: CommonHeader;
  readonly channels: number;
  readonly datatype: string;
  readonly rateHz: number;
  readonly sampleBytes: SampleBytes;
  readonly keys: Readonly<Record<string, unknown>>;
}

interface Frames {
  /** elements : [c][a][t] */
  readonly elements: {
    readonly buffer: ArrayBufferLike;
    readonly byteOffset: number;
    readonly byteLength: number;
  };
  readonly samples: number;
  readonly gaps: readonly SpectraGap[];
  readonly start: Instant;
}

const CHUNK_BYTES = 2 ** 21;

async function createFrames(path: string, plan: FramesHeader): Promise<RecordingWriter<Frames>> {
  const { header, channels, rateHz, sampleBytes } = plan;
  checkHeader(path, header);
  const streams = channels * header.inputs;
  const frameBytes = streams * sampleBytes;
  const output = await openOutputSet(sigmfPaths(path));
  const [data, metaFile] = output.files;
  const hash = createHash('sha512');
  const captures: Record<string, unknown>[] = [];
  const annotations: Record<string, unknown>[] = [];
  const chunkFrames = Math.max(1, Math.floor(CHUNK_BYTES / frameBytes));
  const chunk = new Uint8Array(chunkFrames * frameBytes);
  let frames = 0;
  let nextIndex = 0;

  const beginCapture = (index: number): void => {
    captures.push({
      'core:sample_start': frames,
      'core:global_index': index,
      ...(isUnknown(header, 'frequency') ? {} : { 'core:frequency': header.centreFrequencyHz }),
      ...(isUnknown(header, 'start')
        ? {}
        : { 'core:datetime': formatInstant(addSamples(header.start, index, rateHz), 12) }),
    });
  };
  const annotate = (gap: SpectraGap): void => {
    annotations.push({
      'core:sample_start': frames + gap.firstSample,
      'core:sample_count': gap.endSample - gap.firstSample,
      'core:label': 'missing',
      'corella:missing': true,
      'corella:first_input': gap.firstInput,
      'corella:end_input': gap.endInput,
      ...(channels > 1
        ? { 'corella:first_channel': gap.firstChannel, 'corella:end_channel': gap.endChannel }
        : {}),
    });
  };

  return {
    append: async ({ elements, samples, gaps, start }) => {
      // A whole number of samples: the blocks use the recording's own clock.
      const index = Math.round(secondsBetween(header.start, start) * rateHz);
      if (index < nextIndex) {
        refuse(
          path,
          `a block starts at sample ${index}, before sample ${nextIndex} where the last one ended`,
          'append blocks in time order, once each',
        );
      }
      if (captures.length === 0 || index > nextIndex) beginCapture(index);
      gaps.forEach(annotate);
      const bytes = new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
      for (let t = 0; t < samples; t += chunkFrames) {
        const rows = Math.min(chunkFrames, samples - t);
        const part = chunk.subarray(0, rows * frameBytes);
        turn(
          { bytes, first: t, stride: samples },
          { bytes: part, first: 0, stride: streams },
          { rows: streams, columns: rows, sampleBytes },
        );
        hash.update(part);
        await data.write(part);
      }
      frames += samples;
      nextIndex = index + samples;
    },
    finish: async () => {
      if (frames === 0) {
        await output.abandon();
        refuse(path, 'no samples were recorded', 'append at least one block before finishing');
      }
      const meta = { global: globalOf(plan, hash.digest('hex')), captures, annotations };
      await metaFile.write(new TextEncoder().encode(`${JSON.stringify(meta, undefined, 2)}\n`));
      await output.finish();
    },
    abandon: () => output.abandon(),
  };
}

function checkHeader(path: string, header: CommonHeader): void {
  wholeNumber(path, 'inputs', header.inputs, 1, 2 ** 24);
  const stations = header.telescope?.stations.length;
  if (stations !== undefined && stations * header.polarisations !== header.inputs) {
    refuse(
      path,
      `${header.inputs} inputs for ${stations} stations × ${header.polarisations} polarisations`,
      'give one input for each polarisation of each station',
    );
  }
}

function globalOf(plan: FramesHeader, sha512: string): Record<string, unknown> {
  const { header } = plan;
  const extra = Object.fromEntries(
    Object.entries(header.extra ?? {}).map(([key, value]) => [`corella:${key}`, value]),
  );
  return {
    'core:datatype': plan.datatype,
    'core:version': '1.2.0',
    'core:num_channels': plan.channels * header.inputs,
    'core:sample_rate': plan.rateHz,
    'core:sha512': sha512,
    'core:recorder': 'corella',
    ...(header.description === undefined ? {} : { 'core:description': header.description }),
    ...(header.telescope ? siteOf(header.telescope) : {}),
    'core:extensions': [
      // Channelised data, even of one channel, are not voltages.
      { name: 'corella', version: EXTENSION_VERSION, optional: !('corella:spectra_type' in plan.keys) },
    ],
    'corella:polarisations': header.polarisations,
    ...(header.bits === undefined ? {} : { 'corella:bits': header.bits }),
    ...plan.keys,
    ...(header.history ? { 'corella:history': header.history } : {}),
    ...extra,
    ...(header.telescope ? { 'corella:telescope': header.telescope } : {}),
  };
}

const siteOf = ({ title, site }: Telescope): Record<string, unknown> => ({
  'core:hw': title,
  'core:geolocation': { type: 'Point', coordinates: [site.longitudeDeg, site.latitudeDeg, site.heightM] },
});
