/** A native UDP socket (socket.cpp): surveyed first, then owned by a ring. Linux. */
import { call, callApart, requireNative } from '../../backend/cpu/library.js';
import type { Closable } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import { planListening, type ListenSettings, type SurveyLimits } from '../listen.js';

/** Memory for the datagrams of a survey: further ones are counted but not kept. */
const KEPT_BYTES = 2 ** 25;

export class NativeSocket implements Closable {
  readonly by = 'native';
  readonly port: number;
  /** Datagrams read so far, and when the first was read, by process.hrtime. */
  surveyed = 0;
  firstNs: bigint | undefined;
  private descriptor: number | undefined;

  constructor(settings: ListenSettings) {
    const { address, group, interfaceAddress, port, receiveBufferBytes } = planListening(settings);
    const open = requireNative('receive').function(
      `int32_t corella_socket_open(char *error, const char *address, const char *group,
        const int64_t *asked /*[2]*/, int64_t *given /*[3]*/)`,
    );
    const given = new BigInt64Array(3);
    const asked = BigInt64Array.from([port, receiveBufferBytes], BigInt);
    call('receive', open, group ? interfaceAddress : address, group ? address : '', asked, given);
    this.descriptor = Number(given[0]);
    this.port = Number(given[1]);
  }

  /** Reads the requested number of datagrams, or as many as arrive in the time. */
  async survey({ datagrams, seconds }: SurveyLimits): Promise<Uint8Array[]> {
    const survey = requireNative('receive').function(
      `int32_t corella_socket_survey(char *error, int32_t descriptor, const int64_t *limits /*[3]*/,
        uint8_t *bytes, int64_t *lengths, int64_t *found /*[2]*/)`,
    );
    const bytes = new Uint8Array(KEPT_BYTES);
    const lengths = new BigInt64Array(datagrams);
    const found = new BigInt64Array(2);
    const limits = BigInt64Array.from([datagrams, Math.ceil(seconds * 1000), bytes.length], BigInt);
    await callApart('receive', survey, this.open(), limits, bytes, lengths, found);
    const count = Number(found[0]);
    if (count > 0) this.firstNs ??= found[1];
    this.surveyed += count;
    let at = 0;
    return Array.from(lengths.subarray(0, count), (length) => bytes.slice(at, (at += Number(length))));
  }

  /** The ring owns the descriptor from here on. */
  handOver(to: (descriptor: number) => void): void {
    to(this.open());
    this.descriptor = undefined;
  }

  close(): Promise<void> {
    if (this.descriptor !== undefined) {
      const close = requireNative('receive').function(
        'int32_t corella_socket_close(char *error, int32_t descriptor)',
      );
      call('receive', close, this.descriptor);
    }
    this.descriptor = undefined;
    return Promise.resolve();
  }

  private open(): number {
    return this.descriptor ?? refuse('receive', 'the socket is closed');
  }
}
