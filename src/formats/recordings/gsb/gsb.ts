/**
 * The GMRT software backend (GSB): a text file of time stamps, one line per frame, with sample files without headers
 * beside it. A raw dump (NAME.timestamp, NAME.dat) is one dish's polarisation in real samples of 4 bits, the older in
 * the low half of a byte. A phased array (NAME.Pol-L1.dat, NAME.Pol-L2.dat, … R1, R2) is a beam of 512 channels in
 * complex samples of 8 bits, [time][channel]; of two files per polarisation the first has each frame's first half. A
 * frame lasts 0.25165824 s and has 4 MiB in each file, unless another rate is given.
 */
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { closeAll, preparing, type Closers } from '../../../core/closing.js';
import { refuse } from '../../../core/errors.js';
import { highNibble, lowNibble } from '../../../core/nibbles.js';
import { formatHz } from '../../../core/units.js';
import type { FileKind, Format, FrameTally, OpenOptions, Recording } from '../../format.js';
import { openInput, readText, type InputFile } from '../../io/input.js';
import { isRemote } from '../../io/remote.js';
import { refuseUnread } from '../../reading-options.js';
import { unknownFactsOf } from '../../unknown-facts.js';
import { copyComplex } from '../channelised.js';
import { emptyTally, plausibleSamples } from '../frames.js';
import { polarisationsFor, segmentedSpectra, segmentedVoltages, type Segment } from '../recording.js';
import { FRAME_S, gsbKindOf, readTimes, type GsbKind } from './timestamps.js';

const FRAME_BYTES = 4 * 2 ** 20;
const CHANNELS = 512;

const kinds = {
  rawdump: {
    title: 'GMRT raw dump',
    holds: 'recordings',
    reads: ['sampleRateHz', 'centreFrequencyHz', 'polarisations', 'sideband'],
  },
  phased: {
    title: 'GMRT phased array',
    holds: 'recordings',
    reads: ['sampleRateHz', 'centreFrequencyHz', 'polarisations'],
  },
} as const satisfies Record<GsbKind, FileKind>;

/** [polarisation][part]: a polarisation's samples are in one file, or in two with half a frame each. */
type DataFiles = readonly (readonly InputFile[])[];

async function openData(path: string, kind: GsbKind, closers: Closers): Promise<DataFiles> {
  const stem = path.replace(/\.timestamp$/i, '');
  if (kind === 'rawdump') return [[closers.keep(await openInput(`${stem}.dat`, 'its samples belong there'))]];
  if (isRemote(path))
    refuse(path, "a phased array's files are found by the folder they are in", 'copy them to a disk');
  const named = /^\.Pol-?([LR])([12]?)\.dat$/i;
  const beside = (await readdir(dirname(path)))
    .filter((name) => name.startsWith(basename(stem)))
    .flatMap((name) => {
      const match = named.exec(name.slice(basename(stem).length));
      return match ? [{ name, hand: match[1].toUpperCase() }] : [];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const files: InputFile[][] = [];
  for (const hand of ['L', 'R']) {
    const parts = beside.filter((one) => one.hand === hand);
    if (parts.length === 0) continue;
    const opened: InputFile[] = [];
    for (const { name } of parts) opened.push(closers.keep(await openInput(join(dirname(path), name))));
    files.push(opened);
  }
  if (files.length === 0)
    refuse(
      path,
      `no samples lie beside it: ${basename(stem)}.Pol-L1.dat and the like`,
      'put them into its folder, under its name',
    );
  if (files.some((parts) => parts.length !== files[0].length))
    refuse(path, 'its polarisations have different numbers of files', 'put all of them into its folder');
  return files;
}

interface Frames {
  /** Samples per frame, for each input and channel. */
  readonly samples: number;
  /** Bytes per frame in each file. */
  readonly bytes: number;
  readonly sampleRateHz: number;
}

function framesOf(path: string, kind: GsbKind, parts: number, { sampleRateHz }: OpenOptions): Frames {
  const bytesPerSample = kind === 'rawdump' ? 0.5 : 2 * CHANNELS;
  const nominal = (FRAME_BYTES * parts) / bytesPerSample;
  const wanted = sampleRateHz === undefined ? nominal : sampleRateHz * FRAME_S;
  const samples = Math.round(wanted);
  const bytes = (samples * bytesPerSample) / parts;
  if (samples < 1 || Math.abs(wanted - samples) > 0.01 || !Number.isInteger(bytes))
    refuse(
      path,
      `a frame of ${FRAME_S} s has ${wanted.toFixed(3)} samples at ${formatHz(sampleRateHz ?? 0)}`,
      `give source.rate so that they are whole; nominal is ${formatHz(nominal / FRAME_S)}`,
    );
  return { samples, bytes, sampleRateHz: samples / FRAME_S };
}

async function openPath(path: string, options: OpenOptions, closers: Closers): Promise<Recording> {
  const times = readTimes(path, await readText(path));
  refuseUnread(path, options, [kinds[times.kind]], Object.values(kinds));
  const data = await openData(path, times.kind, closers);
  const all = data.flat();
  const frames = framesOf(path, times.kind, data[0].length, options);
  const held = Math.floor(Math.min(...all.map(({ sizeBytes }) => sizeBytes)) / frames.bytes);
  if (held === 0)
    refuse(
      all[0].path,
      `holds ${all[0].sizeBytes} bytes where a frame has ${frames.bytes}`,
      'it was cut short; or, if its frames are shorter, say so with source.rate',
    );
  const lines = times.places.length;
  // Unknown which frame lacks a line: later frames would have the next one's time.
  if (held > lines)
    refuse(
      path,
      `has ${lines} time stamps, where ${all[0].path} holds ${held} frames`,
      'put back the line that is lacking; or, if frames are longer, say so with source.rate',
    );
  const segments = times.places.slice(0, held).map((place, k): Segment => ({
    firstSample: place * frames.samples,
    samples: frames.samples,
    offsetBytes: k * frames.bytes,
  }));
  const samples = plausibleSamples(
    path,
    (times.places[held - 1] + 1) * frames.samples,
    held * frames.samples,
  );
  const used = held * frames.bytes;
  const store = {
    file: { ...all[0], close: closeAll(...all) },
    segments,
    spareBytes: all.reduce((sum, { sizeBytes }) => sum + sizeBytes - used, 0),
    tally: emptyTally(),
  };
  const shared = {
    path,
    format: 'gsb',
    telescope: options.telescope,
    details: {
      mode: times.kind,
      frames: held,
      frameBytes: frames.bytes,
      samplesPerFrame: frames.samples,
      files: all.map((file) => basename(file.path)),
    },
    samples,
    start: times.start,
    ...unknownFactsOf({ frequency: options.centreFrequencyHz === undefined }),
    // More time stamps than samples: the files are truncated.
    ...(lines > held && {
      endsEarly: {
        said: `${lines} time stamps`,
        promisedBytes: lines * frames.bytes * all.length,
        heldBytes: held * frames.bytes * all.length,
        missingSamples: (lines - held) * frames.samples,
      },
    }),
  };
  return times.kind === 'rawdump'
    ? rawDump(all[0], shared, frames, store, options)
    : phasedArray(data, shared, frames, store, options);
}

type Shared = Pick<Recording, 'path' | 'format' | 'details' | 'samples' | 'start'>;
interface Store {
  readonly file: InputFile;
  readonly segments: readonly Segment[];
  readonly spareBytes: number;
  readonly tally: FrameTally;
}

function rawDump(
  file: InputFile,
  shared: Shared,
  { sampleRateHz }: Frames,
  store: Store,
  options: OpenOptions,
): Recording {
  return segmentedVoltages(
    {
      ...shared,
      type: 'i8',
      bits: 4,
      inputs: 1,
      polarisations: polarisationsFor(shared.path, 1, 1, options),
      sampleRateHz,
      centreFrequencyHz: options.centreFrequencyHz ?? sampleRateHz / 4,
    },
    {
      ...store,
      read: async (segment, from, { elements, at, count }) => {
        const first = Math.floor(from / 2);
        const bytes = new Uint8Array(Math.ceil((from + count) / 2) - first);
        await file.readExactly(bytes, segment.offsetBytes + first);
        for (let t = 0; t < count; t++) {
          const byte = bytes[Math.floor((from + t) / 2) - first];
          elements[at + t] = (from + t) % 2 === 0 ? lowNibble(byte) : highNibble(byte);
        }
      },
    },
  );
}

function phasedArray(
  data: DataFiles,
  shared: Shared,
  frames: Frames,
  store: Store,
  options: OpenOptions,
): Recording {
  const inputs = data.length;
  const spectrumBytes = 2 * CHANNELS;
  const perPart = frames.samples / data[0].length;
  const channelWidthHz = frames.sampleRateHz;
  return segmentedSpectra(
    {
      ...shared,
      type: 'ci8',
      bits: 8,
      channels: CHANNELS,
      inputs,
      polarisations: polarisationsFor(shared.path, inputs, inputs === 2 ? 2 : 1, options),
      spectrumRateHz: frames.sampleRateHz,
      channelWidthHz,
      frequenciesHz: Float64Array.from(
        { length: CHANNELS },
        (_, c) => (options.centreFrequencyHz ?? 0) + (c - CHANNELS / 2) * channelWidthHz,
      ),
    },
    {
      ...store,
      read: async (segment, from, { elements, stride, at, count }) => {
        for (let done = 0; done < count;) {
          const part = Math.floor((from + done) / perPart);
          const within = from + done - part * perPart;
          const now = Math.min(count - done, perPart - within, MOST_SPECTRA);
          const bytes = new Uint8Array(now * spectrumBytes);
          for (const [input, parts] of data.entries()) {
            await parts[part].readExactly(bytes, segment.offsetBytes + within * spectrumBytes);
            for (let c = 0; c < CHANNELS; c++)
              copyComplex(
                {
                  from: bytes,
                  fromIndex: 2 * c,
                  step: spectrumBytes,
                  count: now,
                  to: elements as Int8Array,
                  toIndex: ((c * inputs + input) * stride + at + done) * 2,
                },
                { bits: 8, sideband: 'upper', tally: store.tally },
              );
          }
          done += now;
        }
      },
    },
  );
}

/** One megabyte at a time. */
const MOST_SPECTRA = 1024;

export const gsb: Format = {
  name: 'gsb',
  title: 'GMRT software backend (GSB)',
  extensions: ['.timestamp'],
  kinds: Object.values(kinds),
  recognise: (_path, head) =>
    gsbKindOf(Buffer.from(head.buffer, head.byteOffset, head.length).toString('latin1')) !== undefined,
  open: (path, options) => preparing((closers) => openPath(path, options ?? {}, closers)),
};
