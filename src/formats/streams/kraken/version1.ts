/**
 * Version 1 of the KrakenSDR's firmware (HeIMDALL): a header of 1024 bytes, a C structure with natural alignment in
 * little-endian order, then complex float32 samples, channel by channel. The client requests each frame.
 */
import { instant } from '../../../core/instant.js';
import { frameKinds, type KrakenFrame } from './frame.js';

export const HEADER_BYTES = 1024;
export const SYNC_WORD = 0x2bf7b95a;
const HEADER_VERSION = 7;

/** The client's requests: the first, and for every further frame. */
export const START_REQUEST = 'streaming';
export const FRAME_REQUEST = 'IQDownload';

/** Byte offsets of the fields in use. */
const at = {
  syncWord: 0,
  frameType: 4,
  hardwareId: 8,
  unitId: 24,
  channels: 28,
  frequencyHz: 40,
  adcRateHz: 48,
  rateHz: 56,
  samples: 64,
  timeMs: 72,
  blockIndex: 80,
  frameIndex: 84,
  dataType: 96,
  bits: 100,
  overdriven: 104,
  gains: 108,
  delaySync: 236,
  phaseSync: 240,
  syncState: 244,
  noiseSource: 248,
  version: 1020,
} as const;

/** Complex samples. */
const DATA_TYPE_IQ = 3;
const FLOAT_BITS = 32;
/** Synchronisation state: delays and phases are calibrated. */
const SYNCHRONISED = 5;

export interface Version1Header extends Omit<
  KrakenFrame,
  'voltages' | 'arrivedMs' | 'index' | 'time' | 'sampleRateHz'
> {
  readonly index: number;
  /** Unix time in ms. */
  readonly timeMs: number;
  readonly sampleRateHz: number;
  readonly bits: number;
}

/** Undefined if the sync word is wrong, or the frame type is unknown. */
export function readHeader(bytes: Uint8Array): Version1Header | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  const word = (offset: number): number => view.getUint32(offset, true);
  const long = (offset: number): number => Number(view.getBigUint64(offset, true));
  if (word(at.syncWord) !== SYNC_WORD) return undefined;
  const type = frameKinds.at(word(at.frameType));
  if (type === undefined) return undefined;
  const isNoise = type === 'calibration' || (type === 'data' && word(at.noiseSource) !== 0);
  return {
    kind: isNoise ? 'calibration' : type,
    channels: word(at.channels),
    samples: word(at.samples),
    frequencyHz: long(at.frequencyHz),
    sampleRateHz: long(at.rateHz),
    index: word(at.frameIndex),
    timeMs: long(at.timeMs),
    isSynchronised: word(at.delaySync) !== 0 && word(at.phaseSync) !== 0,
    isRetuning: false,
    overdriven: word(at.overdriven),
    bits: word(at.bits),
  };
}

export const timeOf = ({ timeMs }: Version1Header): KrakenFrame['time'] =>
  timeMs > 0 ? instant(Math.floor(timeMs / 1000), (timeMs % 1000) / 1000) : undefined;

export type WrittenHeader = Omit<
  Version1Header,
  'bits' | 'isRetuning' | 'isSynchronised' | 'overdriven' | 'changes' | 'skippedSamples'
> &
  Partial<Pick<Version1Header, 'isSynchronised' | 'overdriven'>>;

export function writeHeader(header: WrittenHeader): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  const word = (offset: number, value: number): void => {
    view.setUint32(offset, value, true);
  };
  const long = (offset: number, value: number): void => {
    view.setBigUint64(offset, BigInt(Math.round(value)), true);
  };
  const { kind, channels, samples, frequencyHz, sampleRateHz, index, timeMs } = header;
  const isSynchronised = header.isSynchronised ?? true;
  word(at.syncWord, SYNC_WORD);
  word(at.frameType, frameKinds.indexOf(kind));
  bytes.set(new TextEncoder().encode('corella'), at.hardwareId);
  word(at.channels, channels);
  long(at.frequencyHz, frequencyHz);
  long(at.adcRateHz, sampleRateHz);
  long(at.rateHz, sampleRateHz);
  word(at.samples, samples);
  long(at.timeMs, timeMs);
  word(at.blockIndex, index);
  word(at.frameIndex, index);
  word(at.dataType, DATA_TYPE_IQ);
  word(at.bits, FLOAT_BITS);
  word(at.overdriven, header.overdriven ?? 0);
  word(at.delaySync, isSynchronised ? 1 : 0);
  word(at.phaseSync, isSynchronised ? 1 : 0);
  word(at.syncState, isSynchronised ? SYNCHRONISED : 0);
  word(at.noiseSource, kind === 'calibration' ? 1 : 0);
  word(at.version, HEADER_VERSION);
  return bytes;
}

export const payloadBytes = ({
  channels,
  samples,
  bits,
}: Pick<Version1Header, 'channels' | 'samples' | 'bits'>): number => (channels * samples * 2 * bits) / 8;

export const isFloat = ({ bits }: Version1Header): boolean => bits === FLOAT_BITS;
