/** What readers of captures share. */
export interface CaptureRecord {
  /** When it was captured, nanoseconds since 1970. */
  readonly unixNs: bigint;
  /** pcap's number of the link layer (udp.ts). */
  readonly link: number;
  /** A view that stays good. */
  readonly frame: Uint8Array;
  /** As it was on the wire: more than `frame` where the capture kept a part alone. */
  readonly originalBytes: number;
}

/** Takes records off the front of some bytes. */
export interface CaptureParser {
  /** Bytes of the next piece, as far as the bytes at hand tell; 0 where there are too few to tell. */
  lengthAt(bytes: Uint8Array, at: number): number | { readonly damaged: string };
  /** The record in a whole piece; undefined where it holds none. */
  recordAt(bytes: Uint8Array, at: number, length: number): CaptureRecord | undefined;
}
