/** Writes classic pcap of Ethernet frames, little-endian with nanoseconds. Records are buffered, never all at once. */
import { refuse } from '../core/errors.js';
import { LINK_ETHERNET } from './udp.js';

/** The output: its bytes do not change after they were passed on. */
interface CaptureSink {
  write(bytes: Uint8Array): Promise<void>;
}

interface CaptureWriter {
  /** Resolves when there is space for more: awaiting it is the back-pressure. */
  append(unixNs: bigint, frame: Uint8Array): Promise<void>;
  /** Writes the buffered records; the caller closes the sink. */
  finish(): Promise<void>;
}

const NANOSECONDS = 0xa1b2_3c4d;
const SNAP_BYTES = 262_144;
const GATHERED_BYTES = 2 ** 20;

export function writeCapture(sink: CaptureSink): CaptureWriter {
  let gathered = new Uint8Array(GATHERED_BYTES);
  const header = new DataView(gathered.buffer);
  header.setUint32(0, NANOSECONDS, true);
  header.setUint16(4, 2, true);
  header.setUint16(6, 4, true);
  header.setUint32(16, SNAP_BYTES, true);
  header.setUint32(20, LINK_ETHERNET, true);
  let filled = 24;
  const handOn = async (): Promise<void> => {
    const bytes = gathered.subarray(0, filled);
    gathered = new Uint8Array(GATHERED_BYTES);
    filled = 0;
    if (bytes.length > 0) await sink.write(bytes);
  };
  return {
    append: async (unixNs, frame) => {
      const seconds = unixNs / 1_000_000_000n;
      if (unixNs < 0n || seconds > 0xffff_ffffn) {
        refuse('pcap', `${seconds} s from 1970 do not fit 32 bits`, 'captures reach from 1970 to 2106');
      }
      if (frame.length > SNAP_BYTES)
        refuse('pcap', `a frame of ${frame.length} bytes`, `at most ${SNAP_BYTES} fit`);
      if (filled + 16 + frame.length > gathered.length) await handOn();
      const view = new DataView(gathered.buffer);
      view.setUint32(filled, Number(seconds), true);
      view.setUint32(filled + 4, Number(unixNs - seconds * 1_000_000_000n), true);
      view.setUint32(filled + 8, frame.length, true);
      view.setUint32(filled + 12, frame.length, true);
      gathered.set(frame, filled + 16);
      filled += 16 + frame.length;
    },
    finish: handOn,
  };
}
