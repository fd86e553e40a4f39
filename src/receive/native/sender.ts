/** Sends datagrams with native code (send.cpp), off the event loop: for benchmarks. Linux. */
import type { Closable } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import { errorBuffer, loadNative, settle } from '../../backend/cpu/library.js';
import type { Endpoint } from '../../packets/addresses.js';

export interface NativeSenderOptions {
  readonly to: Endpoint;
  /** Address of the interface for multicast datagrams; by default the system chooses. */
  readonly interface?: string;
  readonly sendBufferBytes?: number;
  /** Hop limit of multicast datagrams. */
  readonly hops?: number;
  /** Many datagrams per call all the way to the network card; on by default. */
  readonly offload?: 'on' | 'off';
}

interface NativeSender extends Closable {
  /** datagrams : [count][each]. Do not change them until this has settled. */
  send(datagrams: Uint8Array, each: number): Promise<void>;
}

export function openNativeSender(options: NativeSenderOptions): NativeSender {
  const library = loadNative();
  if ('what' in library) refuse('send', library.what, library.fix);
  if (process.platform !== 'linux') refuse('send', 'the native sender runs on Linux alone');
  const open = library.function(
    `int32_t corella_sender_open(char *error, const char *address, const char *interface,
      const int64_t *asked /*[3]*/, int32_t *descriptor /*[1]*/)`,
  );
  const send = library.function(
    `int32_t corella_sender_send(char *error, int32_t descriptor,
      const uint8_t *datagrams /*[each * count]*/, int64_t each, int64_t count, int32_t offload)`,
  );
  const close = library.function('int32_t corella_sender_close(char *error, int32_t descriptor)');
  const { to, sendBufferBytes = 2 ** 23, hops = 4, offload = 'on' } = options;
  const error = errorBuffer();
  const descriptor = new Int32Array(1);
  const asked = BigInt64Array.from([to.port, sendBufferBytes, hops], BigInt);
  settle('send', open(error, to.address, options.interface ?? '0.0.0.0', asked, descriptor), error);
  let state: 'open' | 'closed' = 'open';
  let underWay: Promise<unknown> = Promise.resolve();
  return {
    send: async (datagrams, each) => {
      if (state === 'closed') refuse('send', 'the sender is closed');
      const count = datagrams.length / each;
      if (!Number.isInteger(count)) refuse('send', `${datagrams.length} bytes are no datagrams of ${each}`);
      const sending = new Promise<number>((resolve, reject) => {
        const flag = offload === 'on' ? 1 : 0;
        send.async(error, descriptor[0], datagrams, each, count, flag, (fault: unknown, code: number) => {
          if (fault instanceof Error) reject(fault);
          else resolve(code);
        });
      });
      underWay = sending.catch(() => undefined);
      settle('send', await sending, error);
    },
    close: async () => {
      if (state === 'closed') return;
      state = 'closed';
      await underWay;
      settle('send', close(error, descriptor[0]), error);
    },
  };
}
