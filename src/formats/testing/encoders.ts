/** Tiny recordings in each format, made byte by byte, for the tests and the fuzzer. */
import { packNibbles } from '../../core/nibbles.js';
import { Buffer } from 'node:buffer';

/** A code to pack, for a sender, input of the sender, sample and part (0 re, 1 im). */
export type CodeAt = (sender: number, input: number, sample: number, part: number) => number;

/** Packs codes of `bits` bits, lowest first, as [sample][input][part]. */
function packed(
  bits: number,
  shape: { sender: number; inputs: number; parts: number; first: number; samples: number },
  code: CodeAt,
): Buffer {
  const width = shape.inputs * shape.parts;
  const bytes = Buffer.alloc((shape.samples * width * bits) / 8);
  for (let k = 0; k < shape.samples * width; k++) {
    const sample = Math.floor(k / width);
    const inside = k % width;
    const value = code(
      shape.sender,
      Math.floor(inside / shape.parts),
      shape.first + sample,
      inside % shape.parts,
    );
    for (let bit = 0; bit < bits; bit++) {
      if ((value >>> bit) & 1) bytes[Math.floor((k * bits + bit) / 8)] |= 1 << ((k * bits + bit) % 8);
    }
  }
  return bytes;
}

export interface VdifSample {
  readonly bits: number;
  readonly parts: 1 | 2;
  readonly threads: readonly number[];
  readonly channels: number;
  readonly samplesPerFrame: number;
  readonly framesPerSecond: number;
  /** Frames per thread. */
  readonly frames: number;
  readonly epoch: number;
  readonly seconds: number;
  readonly firstFrame: number;
  readonly extension: number | 'legacy';
  readonly code: CodeAt;
  /** Frames to omit, or to mark invalid. */
  readonly drop?: (thread: number, frame: number) => 'drop' | 'invalid' | 'keep';
}

export function encodeVdif(sample: VdifSample): Buffer {
  const frames: Buffer[] = [];
  const legacy = sample.extension === 'legacy';
  for (let k = 0; k < sample.frames; k++) {
    for (const [sender, thread] of sample.threads.entries()) {
      const fate = sample.drop?.(thread, k) ?? 'keep';
      if (fate === 'drop') continue;
      const shape = { sender, inputs: sample.channels, parts: sample.parts };
      const payload = packed(
        sample.bits,
        { ...shape, first: k * sample.samplesPerFrame, samples: sample.samplesPerFrame },
        sample.code,
      );
      const header = Buffer.alloc(legacy ? 16 : 32);
      const number = sample.firstFrame + k;
      const second = sample.seconds + Math.floor(number / sample.framesPerSecond);
      header.writeUInt32LE((second | (legacy ? 1 << 30 : 0) | (fate === 'invalid' ? 1 << 31 : 0)) >>> 0, 0);
      header.writeUInt32LE(((sample.epoch << 24) | (number % sample.framesPerSecond)) >>> 0, 4);
      header.writeUInt32LE((Math.log2(sample.channels) << 24) | ((header.length + payload.length) / 8), 8);
      header.writeUInt32LE(
        (((sample.parts - 1) << 31) | ((sample.bits - 1) << 26) | (thread << 16) | 0x544b) >>> 0,
        12,
      );
      if (!legacy) {
        const bandwidthHz = (sample.samplesPerFrame * sample.framesPerSecond) / (sample.parts === 2 ? 1 : 2);
        const rate = sample.extension === 0 ? 0 : bandwidthHz / 1e3;
        header.writeUInt32LE(((sample.extension << 24) | rate) >>> 0, 16);
        if (sample.extension === 3) header.writeUInt32LE(0xacabfeed, 20);
      }
      frames.push(header, payload);
    }
  }
  return Buffer.concat(frames);
}

const decimal = (value: number, digits: number): number => parseInt(String(value).padStart(digits, '0'), 16);

export interface Mark5bSample {
  readonly inputs: number;
  readonly frames: readonly number[];
  readonly framesPerSecond: number;
  readonly day: number;
  readonly second: number;
  readonly code: CodeAt;
}

export function encodeMark5b(sample: Mark5bSample): Buffer {
  const samples = 80_000 / (2 * sample.inputs);
  return Buffer.concat(
    sample.frames.flatMap((k) => {
      const header = Buffer.alloc(16);
      const fraction = Math.floor(((k % sample.framesPerSecond) / sample.framesPerSecond) * 1e4 + 1e-6);
      const second = sample.second + Math.floor(k / sample.framesPerSecond);
      header.writeUInt32LE(0xabaddeed, 0);
      header.writeUInt32LE(k % sample.framesPerSecond, 4);
      header.writeUInt32LE(((decimal(sample.day, 3) << 20) | decimal(second, 5)) >>> 0, 8);
      header.writeUInt32LE((decimal(fraction, 4) << 16) >>> 0, 12);
      const shape = { sender: 0, inputs: sample.inputs, parts: 1, first: k * samples, samples };
      return [header, packed(2, shape, sample.code)];
    }),
  );
}

export interface GuppiSample {
  readonly antennas: number;
  readonly channels: number;
  readonly polarisations: 1 | 2;
  readonly blockSamples: number;
  readonly overlap: number;
  /** Numbers of the stored blocks. */
  readonly blocks: readonly number[];
  readonly bandwidthMhz: number;
  /** By default 8. */
  readonly bits?: 4 | 8 | 16;
  readonly directIo: 'yes' | 'no';
  /** Sender is the antenna, input is channel·polarisations + polarisation in file order. */
  readonly code: CodeAt;
}

const card = (key: string, value: string | number): string =>
  `${key.padEnd(8)}= ${typeof value === 'string' ? `'${value.padEnd(8)}'` : String(value).padStart(20)}`.padEnd(
    80,
  );

export function encodeGuppi(sample: GuppiSample): Buffer {
  const { antennas, channels, polarisations, blockSamples, bits = 8 } = sample;
  const advance = blockSamples - sample.overlap;
  const sampleBytes = (antennas * channels * polarisations * bits) / 4;
  return Buffer.concat(
    sample.blocks.flatMap((k) => {
      const text = [
        card('TELESCOP', 'TEST'),
        card('OBSFREQ', 1000),
        card('OBSBW', sample.bandwidthMhz),
        card('OBSNCHAN', antennas * channels),
        ...(antennas > 1 ? [card('NANTS', antennas)] : []),
        card('NPOL', polarisations === 2 ? 4 : 1),
        card('NBITS', bits),
        card('STT_IMJD', 58132),
        card('STT_SMJD', 51093),
        card('STT_OFFS', 0),
        card('TBIN', Math.abs(channels / sample.bandwidthMhz / 1e6)),
        card('OVERLAP', sample.overlap),
        card('BLOCSIZE', blockSamples * sampleBytes),
        card('PKTSIZE', sampleBytes),
        card('PKTIDX', k * advance),
        card('DIRECTIO', sample.directIo === 'yes' ? 1 : 0),
        'END'.padEnd(80),
      ].join('');
      const padding = sample.directIo === 'yes' ? (512 - (text.length % 512)) % 512 : 0;
      const data = Buffer.alloc(blockSamples * sampleBytes);
      let at = 0;
      for (let s = 0; s < antennas; s++)
        for (let c = 0; c < channels; c++)
          for (let t = 0; t < blockSamples; t++)
            for (let p = 0; p < polarisations; p++) {
              const [re, im] = [0, 1].map((part) =>
                sample.code(s, c * polarisations + p, k * advance + t, part),
              );
              if (bits === 4) data[at++] = ((re & 15) << 4) | (im & 15);
              else if (bits === 8) at = data.writeInt8(im, data.writeInt8(re, at));
              else at = data.writeInt16LE(im, data.writeInt16LE(re, at));
            }
      return [Buffer.from(text, 'latin1'), Buffer.alloc(padding), data];
    }),
  );
}

export interface DadaSample {
  readonly channels: number;
  readonly polarisations: 1 | 2;
  readonly samples: number;
  readonly bandwidthMhz: number;
  readonly instrument: string;
  readonly offsetBytes: number;
  /** Further header lines, like "FILE_SIZE 64000". */
  readonly more?: readonly string[];
  /** Input is channel·polarisations + polarisation. */
  readonly code: CodeAt;
}

export function encodeDada(sample: DadaSample): Buffer {
  const { channels, polarisations, samples } = sample;
  const header = Buffer.alloc(4096);
  header.write(
    [
      'HEADER DADA',
      'HDR_SIZE 4096 # bytes',
      'UTC_START 2013-07-02-01:37:40',
      `OBS_OFFSET ${sample.offsetBytes}`,
      `INSTRUMENT ${sample.instrument}`,
      'FREQ 320.0',
      `BW ${sample.bandwidthMhz}`,
      `TSAMP ${Math.abs(channels / sample.bandwidthMhz)}`,
      'NBIT 8',
      'NDIM 2',
      `NPOL ${polarisations}`,
      `NCHAN ${channels}`,
      ...(sample.more ?? []),
      '',
    ].join('\n'),
  );
  const width = channels * polarisations;
  const data = Buffer.alloc(samples * width * 2);
  // MeerKAT's beamformer: heaps of 256 samples, [pol][c][t] in each.
  const heap = sample.instrument === 'MKBF' && channels > 1 ? 256 : 1;
  for (let t = 0; t < samples; t++)
    for (let input = 0; input < width; input++)
      for (let part = 0; part < 2; part++) {
        const inHeap = t % heap;
        const place = (input % polarisations) * channels + Math.floor(input / polarisations);
        const pair = heap === 1 ? t * width + input : (t - inHeap) * width + place * heap + inHeap;
        data.writeInt8(sample.code(0, input, t, part), pair * 2 + part);
      }
  return Buffer.concat([header, data]);
}

function lwaHeader(length: number, id: number, tag: bigint, tagAt = 16): Buffer {
  const header = Buffer.alloc(length);
  header.writeUInt32BE(0xdec0de5c, 0);
  header.writeUInt8(id, 4);
  header.writeBigUInt64BE(tag, tagAt);
  return header;
}

export interface LwaSample {
  readonly tag: bigint;
  readonly frames: number;
  readonly code: CodeAt;
  readonly drop?: (sender: number, frame: number) => 'drop' | 'keep';
}

/** 512 samples per frame, 8+8 bits, at 100 kHz: 1960 ticks per sample. */
export function encodeTbn(sample: LwaSample & { readonly inputs: number }): Buffer {
  const parts: Buffer[] = [];
  for (let k = 0; k < sample.frames; k++) {
    for (let a = 0; a < sample.inputs; a++) {
      if (sample.drop?.(a, k) === 'drop') continue;
      const header = lwaHeader(24, 0, sample.tag + BigInt(k * 512 * 1960));
      header.writeUInt32BE(2 ** 30, 8);
      header.writeUInt16BE(a + 1, 12);
      const data = Buffer.alloc(1024);
      for (let t = 0; t < 1024; t++) data.writeInt8(sample.code(a, 0, k * 512 + (t >> 1), t & 1), t);
      parts.push(header, data);
    }
  }
  return Buffer.concat(parts);
}

/** 4096 samples per frame, 4+4 bits; sender is the polarisation, both tunings have the same samples. */
export function encodeDrx(sample: LwaSample & { readonly offset: number }): Buffer {
  const parts: Buffer[] = [];
  for (let k = 0; k < sample.frames; k++) {
    for (const tuning of [1, 2]) {
      for (const pol of [0, 1]) {
        if (sample.drop?.(pol, k) === 'drop') continue;
        const tag = sample.tag + BigInt(k * 4096 * 10 + sample.offset);
        const header = lwaHeader(32, (pol << 7) | (tuning << 3) | 4, tag);
        header.writeUInt16BE(10, 12);
        header.writeUInt16BE(sample.offset, 14);
        header.writeUInt32BE(2 ** 30, 24);
        const data = Buffer.alloc(4096);
        for (let t = 0; t < 4096; t++) {
          data[t] = packNibbles(sample.code(pol, 0, k * 4096 + t, 0), sample.code(pol, 0, k * 4096 + t, 1));
        }
        parts.push(header, data);
      }
    }
  }
  return Buffer.concat(parts);
}

/** One spectrum per frame; sender is a group of channels, input is [channel][stand][pol]. */
export function encodeLwaSpectra(
  sample: LwaSample & { readonly kind: 'tbf' | 'tbx'; readonly stands: number; readonly groups: number },
): Buffer {
  const parts: Buffer[] = [];
  const width = 12 * sample.stands * 2;
  const ticks = sample.kind === 'tbf' ? 7840 : 8192;
  for (let k = 0; k < sample.frames; k++) {
    for (let group = 0; group < sample.groups; group++) {
      if (sample.drop?.(group, k) === 'drop') continue;
      const tag = sample.tag + BigInt(k * ticks);
      const header = sample.kind === 'tbf' ? lwaHeader(24, 1, tag) : lwaHeader(28, 8, tag, 20);
      if (sample.kind === 'tbf') header.writeUInt16BE(2348 + 12 * group, 12);
      else {
        header.writeUInt32BE(2176 + 12 * group, 12);
        header.writeUInt16BE(sample.stands, 16);
        header.writeUInt16BE(12, 18);
      }
      const data = Buffer.alloc(width);
      for (let a = 0; a < width; a++)
        data[a] = packNibbles(sample.code(group, a, k, 0), sample.code(group, a, k, 1));
      parts.push(header, data);
    }
  }
  return Buffer.concat(parts);
}

/** Baselines (1,1), (1,2) … in two channels, integrations of 5 s; input is channel·4 + product. */
export function encodeCor(sample: LwaSample & { readonly stands: number }): Buffer {
  const parts: Buffer[] = [];
  for (let k = 0; k < sample.frames; k++) {
    for (let one = 1; one <= sample.stands; one++) {
      for (let two = one; two <= sample.stands; two++) {
        const sender = (one - 1) * sample.stands + (two - 1);
        if (sample.drop?.(sender, k) === 'drop') continue;
        const header = lwaHeader(32, 2, sample.tag + BigInt(k * 5 * 196_000_000));
        header.writeUInt16BE(1584, 12);
        header.writeUInt16BE(1, 14);
        header.writeUInt32BE(500, 24);
        header.writeUInt16BE(one, 28);
        header.writeUInt16BE(two, 30);
        const data = Buffer.alloc(64);
        for (let x = 0; x < 16; x++) data.writeFloatLE(sample.code(sender, x >> 1, k, x & 1), x * 4);
        parts.push(header, data);
      }
    }
  }
  return Buffer.concat(parts);
}
