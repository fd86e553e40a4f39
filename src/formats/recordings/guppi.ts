/**
 * GUPPI RAW: blocks of an 80-column text header and BLOCSIZE bytes, [antenna][channel][time][pol] complex. Each part
 * has 8 bits; or 4, real in the high nibble; or 16, little-endian. Already channelised. A block may repeat the last
 * OVERLAP samples of the one before; DIRECTIO headers are padded to 512 bytes. Blocks are read in pieces, never whole.
 */
import type { SpectraElements } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import { addSamples, instant } from '../../core/instant.js';
import { channelFrequencies, copyComplex, numberOf, refuseOtherRate, wholeIfNear } from './channelised.js';
import type { Format, OpenOptions, SpectraRecording } from '../format.js';
import { emptyTally, plausibleSamples } from './frames.js';
import { findBlocks } from './guppi-blocks.js';
import { readHeader, samplesPerIndex, shapeOf } from './guppi-header.js';
import { openOn, type InputFile } from '../io/input.js';
import { unixFromMjd } from '../../core/clock/epochs.js';
import { polarisationsFor, segmentedSpectra, type Segment, type Target } from './recording.js';

async function openBlocks(file: InputFile, options: OpenOptions): Promise<SpectraRecording> {
  const { path } = file;
  const first = await readHeader(file, 0);
  if (!first) refuse(path, 'has no whole GUPPI RAW header', 'it is damaged, cut short, or in another format');
  const { cards } = first;
  const shape = shapeOf(path, cards);
  const { antennas, channels, polarisations, blockSamples, bits, pairBytes } = shape;
  const { blocks, damagedBytes, doubled, assumed } = await findBlocks(file, first, shape);
  // The truncated part of a recording is missing; if there is no whole block, only the header gives its size.
  if (!blocks.some(({ whole }) => whole))
    refuse(
      path,
      `holds ${file.sizeBytes - first.headerBytes} bytes after its header, where a block has ${shape.blockBytes} (BLOCSIZE)`,
      'it was cut short or its header is damaged: copy it again',
    );
  const cutBytes = blocks.reduce(
    (sum, { whole, dataOffset }) => sum + (whole ? 0 : file.sizeBytes - dataOffset),
    0,
  );
  // Where blocks overlap, samples come from the earlier one.
  const segments: Segment[] = [];
  let reached = 0;
  for (const { firstSample, dataOffset, whole } of blocks) {
    const leadSamples = Math.max(0, reached - firstSample);
    if (!whole || leadSamples >= blockSamples) continue;
    segments.push({
      firstSample: firstSample + leadSamples,
      samples: blockSamples - leadSamples,
      offsetBytes: dataOffset,
      leadSamples,
    });
    reached = firstSample + blockSamples;
  }
  const samples = plausibleSamples(
    path,
    (blocks.at(-1)?.firstSample ?? 0) + blockSamples,
    blocks.length * blockSamples,
  );

  const bandwidthHz = numberOf(path, cards, 'OBSBW') * 1e6;
  const band = channelFrequencies(path, {
    centreFrequencyHz: numberOf(path, cards, 'OBSFREQ') * 1e6,
    bandwidthHz,
    channels,
  });
  const binS = numberOf(path, cards, 'TBIN', 1 / band.channelWidthHz);
  if (!(binS > 0)) refuse(path, `a spectrum lasts ${binS} s (TBIN)`, 'the header is damaged');
  const spectrumRateHz = wholeIfNear(1 / binS);
  refuseOtherRate(
    path,
    { rateHz: spectrumRateHz, clock: 'TBIN' },
    { widthHz: band.channelWidthHz, band: 'OBSBW over the channels' },
  );
  const scale = samplesPerIndex(path, cards, shape);
  const leadSamples = (numberOf(path, cards, 'PKTIDX', 0) - numberOf(path, cards, 'PKTSTART', 0)) * scale;
  const scanStart = instant(
    unixFromMjd(numberOf(path, cards, 'STT_IMJD')) + numberOf(path, cards, 'STT_SMJD'),
    numberOf(path, cards, 'STT_OFFS', 0),
  );
  const tally = emptyTally();
  const inputs = antennas * polarisations;
  const timeBytes = polarisations * pairBytes;
  const sideband = bandwidthHz < 0 ? 'lower' : 'upper';

  const read = async (segment: Segment, after: number, target: Target<SpectraElements>): Promise<void> => {
    const from = after + (segment.leadSamples ?? 0);
    const run = new Uint8Array(target.count * timeBytes);
    for (let s = 0; s < antennas; s++) {
      for (let k = 0; k < channels; k++) {
        const c = sideband === 'lower' ? channels - 1 - k : k;
        await file.readExactly(
          run,
          segment.offsetBytes + ((s * channels + k) * blockSamples + from) * timeBytes,
        );
        for (let p = 0; p < polarisations; p++) {
          const row = c * inputs + s * polarisations + p;
          copyComplex(
            {
              from: run,
              fromIndex: pairBytes * p,
              step: timeBytes,
              count: target.count,
              to: target.elements as Int8Array | Float32Array,
              toIndex: (row * target.stride + target.at) * 2,
            },
            { bits, sideband, tally },
          );
        }
      }
    }
  };
  return segmentedSpectra(
    {
      path,
      format: 'guppi',
      telescope: options.telescope,
      details: {
        header: Object.fromEntries(cards),
        headerBytes: first.headerBytes,
        blocks: blocks.length,
        blockSamples,
        overlapSamples: shape.overlapSamples,
        truncatedBlocks: blocks.filter((block) => !block.whole).length,
      },
      ...(assumed.length > 0 && { assumed }),
      // Integer spectra have eight bits; floats hold sixteen exactly.
      type: bits === 16 ? 'cf32' : 'ci8',
      bits,
      channels,
      inputs,
      polarisations: polarisationsFor(path, inputs, polarisations, options),
      samples,
      spectrumRateHz,
      ...band,
      start: leadSamples > 0 ? addSamples(scanStart, leadSamples, spectrumRateHz) : scanStart,
    },
    { file, segments, spareBytes: damagedBytes + cutBytes, doubled, tally, read },
  );
}

export const guppi: Format = {
  name: 'guppi',
  title: 'GUPPI RAW',
  extensions: ['.raw', '.guppi'],
  kinds: [{ title: 'GUPPI RAW', holds: 'recordings', reads: ['polarisations'] }],
  recognise: (_path, head) => {
    const text = Buffer.from(head.buffer, head.byteOffset, head.length).toString('latin1');
    return (
      /^[A-Z0-9_-]{1,8} *=/.test(text) &&
      !text.startsWith('SIMPLE') &&
      /(?:BLOCSIZE|OBSNCHAN|PKTFMT ) *=/.test(text)
    );
  },
  open: (path, options) => openOn(path, (file) => openBlocks(file, options ?? {})),
};
