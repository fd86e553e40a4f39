// Writes a capture of a number of blocks into a pipe, as fast as it is read: frames are made once and their times
// updated.
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { speadFeng } from '../../dist/packets/spead/feng.js';
import { buildFrame } from '../../dist/packets/udp.js';
import { runPlan, SLOTS_PER_BLOCK } from './plan.js';

const [path, count] = process.argv.slice(2);
const blocks = Number(count);
const out = createWriteStream(path);
out.on('error', () => process.exit(0));
const RECORD = 16;
/** Bytes before SPEAD's words: record, Ethernet, IP, UDP. */
const BEFORE = RECORD + 14 + 20 + 8;
const TIMESTAMP_WORD = 5;
const frames = runPlan.sources.map((_, sender) => {
  const payload = Uint8Array.from({ length: runPlan.cellBytes }, (_value, k) => (k * (7 + sender)) % 100);
  const datagram = speadFeng.encode({ tick: 0n, sender, fragment: 0 }, payload, runPlan);
  return buildFrame(
    { source: { address: '10.0.0.1', port: 1 }, destination: { address: '10.0.0.2', port: 2 } },
    datagram,
  );
});
const header = Buffer.alloc(24);
header.writeUInt32LE(0xa1b23c4d, 0);
header.writeUInt16LE(2, 4);
header.writeUInt16LE(4, 6);
header.writeUInt32LE(262_144, 16);
header.writeUInt32LE(1, 20);
out.write(header);
const size = RECORD + frames[0].length;
const BATCH = 64;
for (let block = 0; block < blocks; block += BATCH) {
  const slots = Math.min(BATCH, blocks - block) * SLOTS_PER_BLOCK;
  const bytes = Buffer.alloc(slots * frames.length * size);
  let at = 0;
  for (let slot = 0; slot < slots; slot++) {
    const tick = BigInt(block * SLOTS_PER_BLOCK + slot) * BigInt(runPlan.ticksPerSlot);
    const seconds = Number(tick / 51_200n);
    for (const frame of frames) {
      bytes.writeUInt32LE(1_782_014_400 + seconds, at);
      bytes.writeUInt32LE(frame.length, at + 8);
      bytes.writeUInt32LE(frame.length, at + 12);
      bytes.set(frame, at + RECORD);
      bytes.writeBigUInt64BE(0x9600_0000_0000_0000n | tick, at + BEFORE + 8 * TIMESTAMP_WORD);
      at += size;
    }
  }
  if (!out.write(bytes)) await once(out, 'drain');
}
out.end();
