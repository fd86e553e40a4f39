/** Shared by the readers of captures. */
export interface CaptureRecord {
  /** Capture time, nanoseconds since 1970. */
  readonly unixNs: bigint;
  /** pcap's link-layer type (udp.ts). */
  readonly link: number;
  /** A view that remains valid. */
  readonly frame: Uint8Array;
  /** Length on the wire: more than `frame` if the capture kept only a part. */
  readonly originalBytes: number;
}

/** Takes records from the front of a byte array. */
export interface CaptureParser {
  /** Length of the next piece, from the bytes available; 0 if there are too few to know it. */
  lengthAt(bytes: Uint8Array, at: number): number | { readonly damaged: string };
  /** The record in a whole piece; undefined if it holds none. */
  recordAt(bytes: Uint8Array, at: number, length: number): CaptureRecord | undefined;
}
