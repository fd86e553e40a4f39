/**
 * WAV from software radios: I and Q as the two channels of a stereo file, further pairs as further inputs. The chunk
 * `auxi` of SDRuno, HDSDR, SpectraVue and others holds the start time and the centre frequency; plain WAV (airspy_rx)
 * has neither. Files above 4 GB are RF64, or have a length that means "to the end".
 */
import type { VoltageType } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import { formatInstant, parseInstant, type Instant } from '../../core/instant.js';
import { formatHz } from '../../core/units.js';
import type { Format, OpenOptions, VoltageRecording } from '../format.js';
import { openOn, type InputFile } from '../io/input.js';
import { openPlain } from './raw.js';
import type { StreamType } from './unsigned.js';

const MOST_CHUNK_BYTES = 2 ** 20;
const MOST_CHUNKS = 1000;
const [PCM, FLOAT, EXTENSIBLE] = [1, 3, 0xfffe];
const UNTIL_END = 0xffffffff;

interface WavHead {
  readonly type: StreamType;
  readonly channels: number;
  readonly rateHz: number;
  readonly dataAt: number;
  readonly dataBytes: number;
  readonly start?: Instant;
  readonly centreHz?: number;
}

const isWav = (head: Uint8Array): boolean => {
  const text = Buffer.from(head.subarray(0, 12)).toString('latin1');
  return /^(?:RIFF|RF64)....WAVE/s.test(text);
};

async function readHead(file: InputFile): Promise<WavHead> {
  const { path, sizeBytes } = file;
  const read = async (at: number, length: number): Promise<Buffer> => {
    if (at + length > sizeBytes)
      refuse(path, 'ends inside its header', 'it was cut short: copy it again', 'file.damaged');
    const bytes = Buffer.alloc(length);
    await file.readExactly(bytes, at);
    return bytes;
  };
  const head = await read(0, 12);
  if (!isWav(head)) refuse(path, 'is no WAV file', 'check what it is', 'file.damaged');
  let format: ReturnType<typeof formatOf> | undefined;
  let auxiliary: ReturnType<typeof auxiliaryOf> = {};
  let longBytes: number | undefined;
  for (let at = 12, k = 0; k < MOST_CHUNKS && at + 8 <= sizeBytes; k++) {
    const about = await read(at, 8);
    const name = about.toString('latin1', 0, 4);
    const length = about.readUInt32LE(4);
    const from = at + 8;
    if (name === 'data') {
      if (!format) return refuse(path, 'has no format before its data', 'it is damaged', 'file.damaged');
      const said = length === UNTIL_END || length === 0 ? (longBytes ?? sizeBytes - from) : length;
      return { ...format, ...auxiliary, dataAt: from, dataBytes: said };
    }
    if (['fmt ', 'ds64', 'auxi'].includes(name)) {
      if (length > MOST_CHUNK_BYTES)
        refuse(path, `has a chunk '${name}' of ${length} bytes`, 'it is damaged');
      const chunk = await read(from, length);
      if (name === 'fmt ') format = formatOf(chunk, path);
      else if (name === 'auxi') auxiliary = auxiliaryOf(chunk, path);
      else if (chunk.length >= 16) longBytes = Number(chunk.readBigUInt64LE(8));
    }
    // Chunks begin at even offsets.
    at = from + length + (length % 2);
  }
  return refuse(path, 'holds no data', 'it was cut short: copy it again', 'file.damaged');
}

function formatOf(chunk: Buffer, path: string) {
  if (chunk.length < 16) refuse(path, 'has a damaged format', 'copy it again', 'file.damaged');
  const said = chunk.readUInt16LE(0);
  const code = said === EXTENSIBLE && chunk.length >= 26 ? chunk.readUInt16LE(24) : said;
  const [channels, rateHz, bits] = [chunk.readUInt16LE(2), chunk.readUInt32LE(4), chunk.readUInt16LE(14)];
  const kinds: readonly (readonly [number, number, StreamType, StreamType])[] = [
    [PCM, 8, 'u8', 'cu8'],
    [PCM, 16, 'i16', 'ci16'],
    [FLOAT, 32, 'f32', 'cf32'],
  ];
  const kind = kinds.find(([one, width]) => one === code && width === bits);
  if (!kind)
    return refuse(
      path,
      `holds samples of WAV format ${code} with ${bits} bits`,
      'record 8 or 16 bits, or floats of 32',
    );
  if (channels === 0 || rateHz === 0) refuse(path, 'has a damaged format', 'copy it again', 'file.damaged');
  const isPairs = channels % 2 === 0;
  return { type: isPairs ? kind[3] : kind[2], channels: isPairs ? channels / 2 : channels, rateHz };
}

/** Two Windows times (year, month, day of the week, day, hour, minute, second, ms), then the centre frequency. */
function auxiliaryOf(chunk: Buffer, path: string): Pick<WavHead, 'start' | 'centreHz'> {
  if (chunk.length < 36) return {};
  const [year, month, , day, hour, minute, second, ms] = Array.from({ length: 8 }, (_, k) =>
    chunk.readUInt16LE(2 * k),
  );
  const two = (value: number): string => String(value).padStart(2, '0');
  const centreHz = chunk.readUInt32LE(32);
  return {
    ...(year > 1970 && {
      start: parseInstant(
        `${year}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}.${String(ms).padStart(3, '0')}Z`,
        path,
      ),
    }),
    ...(centreHz > 0 && { centreHz }),
  };
}

async function open(file: InputFile, options: OpenOptions): Promise<VoltageRecording> {
  const head = await readHead(file);
  const { type, start, centreHz } = head;
  const asReal: Partial<Record<StreamType, VoltageType | 'u8'>> = { cu8: 'u8', ci16: 'i16', cf32: 'f32' };
  const isReal = options.type !== undefined && options.type === asReal[type];
  if (options.type !== undefined && options.type !== type && !isReal)
    refuse(
      file.path,
      `samples of type ${options.type} contradict its header, which has ${type}`,
      `leave it out${asReal[type] === undefined ? '' : `, or give ${asReal[type]} where its channels are real inputs`}`,
    );
  const recording = openPlain(
    file,
    {
      ...options,
      type: options.type ?? type,
      inputs: isReal ? 2 * head.channels : head.channels,
      sampleRateHz: head.rateHz,
      skipBytes: head.dataAt,
      ...(centreHz !== undefined && { centreFrequencyHz: centreHz }),
      ...(start && { start }),
    },
    { format: 'wav', dataBytes: head.dataBytes },
  );
  return {
    ...recording,
    details: {
      channels: head.channels * (type.startsWith('c') ? 2 : 1),
      ...(start && { auxiStart: formatInstant(start) }),
      ...(centreHz !== undefined && { auxiCentreHz: centreHz }),
    },
    ...(start && {
      assumed: [
        `its start, ${formatInstant(start)}, is UTC: the chunk auxi does not state a time zone, and some programs write local time`,
        ...(centreHz === undefined ? [] : [`its centre is ${formatHz(centreHz, 10)}, to a hertz`]),
      ],
    }),
  };
}

export const wav: Format = {
  name: 'wav',
  title: 'WAV',
  extensions: ['.wav'],
  kinds: [
    {
      title: 'WAV',
      holds: 'recordings',
      reads: ['centreFrequencyHz', 'polarisations', 'type', 'start', 'sideband'],
    },
  ],
  recognise: (_path, head) => isWav(head),
  open: (path, options = {}) => openOn(path, (file) => open(file, options)),
};
