/** The native parser of one datagram, for comparison with the decoders of packets/. */
import { call, loadNative, type Absence } from '../../backend/cpu/library.js';
import type { StreamPlan } from '../../packets/packet-format.js';
import { nativePlan, type ParseResult } from '../../packets/parse-result.js';

/** A plan in the form that the ring's functions accept: [plan, numbers, sources]. */
export function planNumbers(stream: StreamPlan): readonly [BigInt64Array, BigInt64Array, BigInt64Array] {
  const { format, senders, fragments, cellBytes, wrapBits, ticksPerSlot, numbers, sources } =
    nativePlan(stream);
  const sizes = [format, senders, fragments, cellBytes, wrapBits].map(BigInt);
  return [BigInt64Array.from([...sizes, ticksPerSlot, BigInt(numbers.length)]), numbers, sources];
}

type NativeParser = (datagram: Uint8Array) => ParseResult;

export function nativeParser(stream: StreamPlan): NativeParser | Absence {
  const library = loadNative();
  if ('what' in library) return library;
  const parse = library.function(
    `int32_t corella_parse_packet(char *error, const int64_t *plan /*[7]*/, const int64_t *numbers,
      const int64_t *sources, const uint8_t *datagram /*[bytes]*/, int64_t bytes,
      int64_t *result /*[6]*/)`,
  );
  const plan = planNumbers(stream);
  const result = new BigInt64Array(6);
  return (datagram) => {
    call('parse', parse, ...plan, datagram, datagram.length, result);
    const [code, tick, sender, fragment, session, payloadAt] = result;
    return {
      code: Number(code),
      tick,
      sender: Number(sender),
      fragment: Number(fragment),
      session,
      payloadAt: Number(payloadAt),
    };
  };
}
