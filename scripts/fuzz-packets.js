// Feeds damaged packets to every decoder: npm run fuzz:packets [-- --packets 100000 --seed 1 --only chips,vdif] and
// runs with random faults to both rings, with the same total number of packets: --only ring for those alone. Each must
// be placed inside its plan, be control, or be refused with a reason; nothing may throw, and parsed packets must be
// written again byte for byte. The native parser must agree on each. The same seed makes the same packets; a failure
// names the packet. CORELLA_NATIVE=dist/native-sanitize runs it with sanitizers.
import assert from 'node:assert/strict';
import { parseArgs } from 'node:util';
import { parseResultOf } from '../dist/packets/parse-result.js';
import { nativeParser } from '../dist/receive/native/parser.js';
import { loadNative } from '../dist/backend/cpu/library.js';
import { openNativeRing } from '../dist/receive/native/native-ring.js';
import { ReferenceRing } from '../dist/receive/reference.js';
import { smallPlan } from '../dist/receive/testing/array.js';
import { compareRings } from '../dist/receive/testing/compare-rings.js';
import { allStreams } from '../dist/packets/testing/streams.js';
import { tryDamaged } from '../dist/packets/testing/trial.js';

const { values } = parseArgs({
  options: {
    packets: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
  },
});
const chosen = allStreams.filter(
  ({ plan }) => values.only === '' || values.only.split(',').includes(plan.format),
);
let failures = 0;
let reported = '';
for (const stream of chosen) {
  const name = stream.plan.format.padEnd(16);
  try {
    const parse = nativeParser(stream.plan);
    const isNative = typeof parse === 'function';
    const tally = tryDamaged(stream, Number(values.seed), 0, Number(values.packets), (packet, where) => {
      if (isNative) assert.deepEqual(parse(packet), parseResultOf(packet, stream.plan), `${where}, native`);
    });
    reported = isNative
      ? 'every decoder stood, and the native parser agreed'
      : `every decoder stood (${parse.what})`;
    const words = Object.entries(tally).map(([reason, count]) => `${count} ${reason}`);
    console.log(`ok     ${name} ${values.packets} packets: ${words.join(', ')}`);
  } catch (error) {
    failures++;
    console.log(`FAILED ${name} ${error instanceof Error ? error.stack : String(error)}`);
  }
}
if (values.only === '' || values.only.split(',').includes('ring')) {
  try {
    console.log(`ok     ring             ${await runs(Number(values.packets), Number(values.seed))}`);
  } catch (error) {
    failures++;
    console.log(`FAILED ring             ${error instanceof Error ? error.stack : String(error)}`);
  }
}
console.log(failures === 0 ? reported : `${failures} decoders fell`);
process.exit(failures === 0 && (chosen.length > 0 || values.only === 'ring') ? 0 : 1);

/**
 * Runs until this many packets were sent, each on two new rings.
 * @param {number} packets
 * @param {number} seed
 */
async function runs(packets, seed) {
  const library = loadNative();
  if ('what' in library) return `left out: ${library.what}`;
  let [fed, count] = [0, 0];
  for (; fed < packets; count++) {
    const ring = openNativeRing(smallPlan, 0xaa);
    fed += compareRings(ring, new ReferenceRing(smallPlan, undefined, 0x55), seed * 1_000_000 + count, 5000);
    await ring.close();
  }
  reported = reported === '' ? 'both rings agreed' : `${reported}; both rings agreed`;
  return `${fed} packets in ${count} runs with faults`;
}
