// Feeds damaged packets to every decoder: npm run fuzz:packets [-- --packets 100000 --seed 1 --only chips,vdif]
// Each must be placed inside its plan, be control, or be refused with a reason; nothing may throw, and what can be
// parsed must be written again byte for byte. The native parser must say the same of each. The same seed makes the
// same packets; a failure names the packet. With CORELLA_NATIVE=dist/native-sanitize it is watched by sanitizers.
import assert from 'node:assert/strict';
import { parseArgs } from 'node:util';
import { verdictOf } from '../dist/packets/verdict.js';
import { nativeParser } from '../dist/receive/native/parser.js';
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
let told = '';
for (const stream of chosen) {
  const name = stream.plan.format.padEnd(16);
  try {
    const parse = nativeParser(stream.plan);
    const isNative = typeof parse === 'function';
    const tally = tryDamaged(stream, Number(values.seed), 0, Number(values.packets), (packet, where) => {
      if (isNative) assert.deepEqual(parse(packet), verdictOf(packet, stream.plan), `${where}, native`);
    });
    told = isNative
      ? 'every decoder stood, and the native parser agreed'
      : `every decoder stood (${parse.what})`;
    const words = Object.entries(tally).map(([reason, count]) => `${count} ${reason}`);
    console.log(`ok     ${name} ${values.packets} packets: ${words.join(', ')}`);
  } catch (error) {
    failures++;
    console.log(`FAILED ${name} ${error instanceof Error ? error.stack : String(error)}`);
  }
}
console.log(failures === 0 ? told : `${failures} decoders fell`);
process.exit(failures === 0 && chosen.length > 0 ? 0 : 1);
